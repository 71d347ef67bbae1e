"""Kernels that move data between devices, what they carry, and what they slow down."""

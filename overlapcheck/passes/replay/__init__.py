"""Steady steps as a graph that can be replayed."""

"""Tests of which stream waits for which."""

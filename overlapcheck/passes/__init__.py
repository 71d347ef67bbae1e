"""`Trace` → `Measurements`: pure functions from tables to one table each.

`measure.py` is the readable page of assignments; every other file is one pass.
"""

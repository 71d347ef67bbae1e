"""How nsys lays its tables out, by what a file contains rather than by its version number.

One file per family of tables; in each, one function that reads the family from any layout since
2020 into the canonical table of `trace_tables.py`. Columns that came later fall back to a constant,
tables that moved are looked for in each place. NVIDIA's schema: the SQLite section of the Nsight
Systems User Guide; versions were compared over exports of 2020.4 to 2026.2.
"""

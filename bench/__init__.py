"""Benchmarks: what the analysis costs beside a bare scan of the same tables, as ratios."""

"""Which part of a trace is judged: steps, periods, ranges."""

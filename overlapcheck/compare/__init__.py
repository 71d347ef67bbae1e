"""Two `Report`s → `Comparison`: what was won or lost, in time per step, and which cause is gone.

Only numbers that a saved result holds are compared, so a baseline of last month will do.
"""

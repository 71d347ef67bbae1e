"""`python -m overlapcheck`."""

from overlapcheck.cli import main

main()

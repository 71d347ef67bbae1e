"""Many reports → one `FleetReport`: find them, judge each on its own, merge what is left of each.

Judging one report is a pure function that leaves a small `ReportResult`; where it runs (this
machine's processes, a Dask cluster, an earlier run) changes nothing in the answer.
"""

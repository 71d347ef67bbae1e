"""`Trace` → `Measurements`: pure functions from tables to one table each.

`measure.py` is the readable page of assignments. Beside it stand the tables that all others read
(`process.py`, `streams.py` ...), and six rooms:

    window/         which part is judged: steps, periods, ranges
    order/          what ran, and what is known to be ordered
    ledger/         why nothing ran: every idle nanosecond gets a reason, by rules
    collectives/    what moved data between devices
    replay/         steps as a graph that can be replayed, and changed
    pace/           how long the steps take when nothing records, and all of it at that pace
"""

"""SQLite export → `Trace`. The only stage that knows SQL, table names and nsys versions."""

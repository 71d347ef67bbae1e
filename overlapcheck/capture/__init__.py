"""Everything that starts another program: finding nsys, profiling, importing, exporting."""

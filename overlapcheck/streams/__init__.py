"""`StreamWaits` → `StreamGraph`: which stream waits for which, and whether that was agreed on."""

"""What a repair would win: steady steps replayed with a cause taken out."""

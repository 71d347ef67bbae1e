"""Formats that the place they go to changes: how wide a page is, what names are relative to."""

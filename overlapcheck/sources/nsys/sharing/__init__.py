"""A part of an export as a new one that names nobody: rows and texts that are known, no others."""

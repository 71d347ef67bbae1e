"""`Measurements` + `Verdict` + `Findings` → `Report`: choosing the rows worth showing."""

"""What has fired, as `Finding`s: what recurs first, what its repair wins, which lines it names."""

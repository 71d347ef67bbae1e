"""Policy file + command line → `Policy` and `Selection`, every limit with where it came from.

The file lives in the repository, next to the code that it judges. What it cannot mean is an error
that names the file, the key and the nearest valid name: a gate must never run on limits that
somebody only thought they had set.
"""

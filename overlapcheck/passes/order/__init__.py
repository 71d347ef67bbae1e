"""The operations of a process and every known order between them, and which order held each up."""

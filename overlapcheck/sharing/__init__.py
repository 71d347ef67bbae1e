"""A recording → the least of it that gives the same answer and names nobody, to be handed on."""

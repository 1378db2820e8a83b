"""Looks at boards: whose turn it is, the walk over a list, and what follows from it."""

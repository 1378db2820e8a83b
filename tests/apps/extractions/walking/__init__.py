"""Pure decisions of the walk."""

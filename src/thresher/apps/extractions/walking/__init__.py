"""Pure decisions of the walk over a site: what a page holds, and where it leads."""

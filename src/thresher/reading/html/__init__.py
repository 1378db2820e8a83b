"""HTML: parsing, decoding, and what the tree of a page holds."""

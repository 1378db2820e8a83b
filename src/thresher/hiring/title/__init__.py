"""Titles: what people call their work, read down to the role that is meant."""

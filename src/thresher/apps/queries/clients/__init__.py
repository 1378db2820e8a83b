"""Clients: where queries are asked. A search API described in YAML, a feed, CSV files, a board."""

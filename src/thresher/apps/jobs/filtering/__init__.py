"""The filter: what rejects a posting, and what counts against it."""

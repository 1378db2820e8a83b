"""What rules a posting out, and what counts against it."""

"""Recurring searches: each query is run again and again, and only what is new is fetched."""

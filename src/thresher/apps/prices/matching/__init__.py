"""Whether a listing is about an item, and what one of it costs: pure."""

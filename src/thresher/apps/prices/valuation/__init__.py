"""From the price points of an item to what it is worth: pure, and whole numbers throughout."""

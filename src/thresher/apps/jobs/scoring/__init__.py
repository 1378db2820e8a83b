"""The score: how well an opening fits a person."""

"""How well an opening fits."""

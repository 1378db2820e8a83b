"""Charts of prices: what is drawn is decided once, and written as SVG or as PNG."""

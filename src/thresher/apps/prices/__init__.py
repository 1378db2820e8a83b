"""Prices: what things are worth, from listings of governed sources to a valuation that can be explained."""

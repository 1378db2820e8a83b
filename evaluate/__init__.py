"""How well Thresher reads real recorded pages. Not a test: a table of scores, with the aim beside each."""

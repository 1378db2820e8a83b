"""A small world to practise in, for the demo, the tests and the benchmarks. It knows nothing of the rest of
Thresher.
"""

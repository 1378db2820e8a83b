"""Benchmarks of the queue, with the code that runs in production."""

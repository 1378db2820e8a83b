"""Tests of the vectors. One thread of linear algebra: several test processes share the cores, and its threads wait by spinning."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is first imported

"""NumPy, and the one rule for it: it computes on one thread.

OpenBLAS stops its threads whenever the process forks, as it does when a browser or a helper is started, and
whoever computes at that moment waits for ever. A worker has other things for its cores to do anyway. Whoever
imports NumPy before us decides for us, too.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when NumPy is loaded

import numpy as np
import numpy.typing as npt

__all__ = ["np", "npt"]

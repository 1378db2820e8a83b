"""All tests. What must be so before anything else is imported is said here."""

import os

# Several test processes share the machine; threads of a matrix product that wait for each other burn what the
# others need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is first imported

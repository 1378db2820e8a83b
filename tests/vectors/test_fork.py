"""Starting another process while vectors are computed must not stop the computation for ever."""

import subprocess
import sys

import pytest

# In a process of its own: how many threads NumPy has is decided when it is loaded, and here it may have been
# loaded before.
COMPUTE = """
import os, threading
from thresher.vectors.embedder import open_model
model, rounds = open_model(), threading.Semaphore(0)
def compute():
    while True:
        model.embed(["a title with some words in it"] * 16)
        rounds.release()
for _ in range(2):
    threading.Thread(target=compute, daemon=True).start()
for _ in range(12):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert rounds.acquire(timeout=60), "nothing is computed any more"
os._exit(0)
"""


@pytest.mark.promise(1)
def test_a_fork_in_the_middle_of_a_computation_does_not_end_it():
    assert subprocess.run([sys.executable, "-c", COMPUTE], timeout=300, check=False).returncode == 0

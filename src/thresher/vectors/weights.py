"""The numbers of a model, from a safetensors file: a header in JSON, then arrays of numbers.

The file is mapped, not read: what is never used (most of the vocabulary) never takes memory, and several
workers share it. Nothing in the file is trusted: whatever the header says is held against the size of the
file first.
"""

import hashlib
import json
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.core.errors import ConfigError
from thresher.vectors.numeric import np, npt
from thresher.vectors.original import ADVICE

MAX_HEADER = 1 << 20
SAMPLE = 64

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Weights:
    """Arrays by name. The fingerprint tells one training from another; it is no proof that every byte is
    whole.
    """

    arrays: Mapping[str, Floats]
    fingerprint: str

    def take(self, name: str, *shape: int) -> Floats:
        """The array of that name, which must have that shape."""
        found = self.arrays.get(name)
        if found is None or found.shape != shape:
            have = "is missing" if found is None else f"has the shape {found.shape}"
            raise ConfigError(
                f"the weights do not fit the embedding model: {name} {have}, not {shape}; {ADVICE}"
            )
        return found


def read_weights(path: Path) -> Weights:
    """Map the file. Raises ConfigError if it is damaged."""
    try:
        with path.open("rb") as file:
            body = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _weights(body)
    except (OSError, ValueError, KeyError, TypeError, struct.error, RecursionError) as problem:
        raise ConfigError(f"the weights of the embeddings are damaged: {path}: {problem}; {ADVICE}") from None


def _weights(body: mmap.mmap) -> Weights:
    (size,) = struct.unpack_from("<Q", body)
    if size > min(MAX_HEADER, len(body) - 8):
        raise ValueError(f"a header of {size} bytes in a file of {len(body)}")
    header: dict[str, Any] = json.loads(body[8 : 8 + size])
    if not isinstance(header, dict):
        raise TypeError("the header is not an object")
    header.pop("__metadata__", None)
    digest = hashlib.sha256(body[: 8 + size])
    arrays = {}
    for name, entry in header.items():
        first, last = _span(name, entry, start=8 + size, end=len(body))
        digest.update(body[first : min(first + SAMPLE, last)])
        if entry["dtype"] == "F32":
            arrays[name] = np.frombuffer(body, "<f4", (last - first) // 4, first).reshape(entry["shape"])
    return Weights(arrays, digest.hexdigest())


def _span(name: str, entry: Mapping[str, Any], *, start: int, end: int) -> tuple[int, int]:
    first, last = (start + int(place) for place in entry["data_offsets"])
    if not start <= first <= last <= end:
        raise ValueError(f"{name} should be at bytes {first} to {last} of {end}")
    return first, last

"""A body that has arrived completely and lies in a file: its digest, its size, and its bytes in chunks."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from thresher.core.keys import content_hash

# larger ones are given back to the system each time, and fetched again: a fifth of what it takes to parse
# them
PIECE = 65_536


@dataclass(frozen=True, slots=True)
class Spooled:
    """`digest` is the SHA-256 of the bytes. One thread at a time reads them."""

    digest: str
    size: int
    file: BinaryIO

    @classmethod
    def of(cls, body: bytes) -> "Spooled":
        """A small body that is in memory anyway."""
        return cls(content_hash(body), len(body), BytesIO(body))

    def pieces(self) -> Iterator[bytes]:
        """The bytes from the beginning."""
        self.file.seek(0)
        while piece := self.file.read(PIECE):
            yield piece

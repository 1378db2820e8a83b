"""Vectors, one after the other, as 32-bit numbers in one piece of memory.

The same thing with and without NumPy: `numpy.asarray(matrix)` looks at it without copying, and without NumPy
each row is a view of floats. `pack` and `unpack` are how vectors are stored; a stored vector means something
only beside the name and the version of the embedder that made it.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.core.errors import UsageError

# What array and memoryview call a float of 32 bits, and how many bytes it has.
FLOAT, SIZE = "f", 4
# An empty piece of memory has no address that NumPy would take.
NOTHING = memoryview(bytes(SIZE))


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Rows of `dims` numbers each."""

    numbers: "memoryview[float]"
    dims: int

    def __len__(self) -> int:
        return len(self.numbers) // self.dims

    def __getitem__(self, row: int) -> "memoryview[float]":
        at = row + len(self) if row < 0 else row
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {row} among {len(self)}")
        return self.numbers[at * self.dims : (at + 1) * self.dims]

    def __iter__(self) -> "Iterator[memoryview[float]]":
        return (self[row] for row in range(len(self)))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """What NumPy asks for; so this module need not know NumPy."""
        return {
            "version": 3,
            "shape": (len(self), self.dims),
            "typestr": "=f4",
            "data": self.numbers or NOTHING,
        }

    def pack(self, row: int) -> bytes:
        """One row for the store."""
        return self[row].tobytes()


def matrix_of(rows: Iterable[Sequence[float]], dims: int) -> Matrix:
    """A matrix of rows that all have `dims` numbers."""
    numbers: array[float] = array(FLOAT)
    for row in rows:
        if len(row) != dims:
            raise UsageError(
                f"a vector has {len(row)} numbers, the others {dims}: they come from different "
                "embedders; embed again"
            )
        numbers.extend(row)
    return Matrix(memoryview(numbers), dims)


def unpack(rows: Iterable[bytes], dims: int) -> Matrix:
    """What `pack` has stored, as a matrix again."""
    numbers = bytearray()
    for row in rows:
        if len(row) != dims * SIZE:
            raise UsageError(
                f"a stored vector has {len(row)} bytes instead of {dims * SIZE}: another embedder "
                "made it; embed again"
            )
        numbers += row
    return Matrix(memoryview(numbers).cast("f"), dims)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """How near two vectors are that have length one: 1 the same, 0 nothing in common."""
    return sum(one * other for one, other in zip(left, right, strict=True))

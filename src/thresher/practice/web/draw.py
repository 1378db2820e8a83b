"""Chance that repeats itself: every draw follows from the seed and the name of what it is drawn for.

`random.Random` promises the same floats for ever, but not the same choices; a web that must be equal byte for
byte on every Python draws from a hash instead.
"""

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct
from typing import TypeVar

T = TypeVar("T")
_EIGHT = Struct(">8Q")


class Draw:
    """A stream of numbers named by a seed and a path: `Draw(7, "company", "acme")`."""

    __slots__ = ("_block", "_key", "_left")

    def __init__(self, seed: int, *path: object) -> None:
        self._key = blake2b("\0".join(map(str, (seed, *path))).encode(), digest_size=32).digest()
        self._block = 0
        self._left: list[int] = []

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, not including, `limit`."""
        if not self._left:
            self._block += 1
            self._left.extend(_EIGHT.unpack(blake2b(self._block.to_bytes(8, "big"), key=self._key).digest()))
        return self._left.pop() % limit

    def between(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def some(self, choices: Sequence[T], count: int) -> list[T]:
        """`count` different ones, in drawn order."""
        left = list(choices)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]


def token(seed: int, *path: object, size: int = 12) -> str:
    """A short hexadecimal name that looks random and never changes."""
    return blake2b("\0".join(map(str, (seed, *path))).encode(), digest_size=16).hexdigest()[:size]


def uuid(seed: int, *path: object) -> str:
    """The same in the shape of a UUID of version 4."""
    text = token(seed, "uuid", *path, size=32)
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"

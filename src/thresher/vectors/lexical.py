"""Vectors without a model: what letters two texts share, and nothing else.

The fallback where no weights are installed, in plain Python. Each word, and every three neighbouring letters
of it, is hashed to one of the dimensions, with a sign, so that chance meetings cancel out. "Nurse" and
"Nurses" are near; "Nurse" and "Caregiver" have nothing in common, and "Java Developer" is nearer to "Javanese
teacher" than meaning allows.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from thresher.vectors.matrix import FLOAT, Matrix
from thresher.vectors.wordpiece import MAX_CHARACTERS, Characters

NAME = "lexical"
# Rises when a text would get another vector.
VERSION = "1"
DIMS = 512
LETTERS = 3


@dataclass(frozen=True, slots=True)
class Lexical:
    """Texts as points that lie near each other where they share letters."""

    name: str = field(default=NAME, init=False)
    version: str = field(default=VERSION, init=False)
    dims: int = field(default=DIMS, init=False)
    meaning: bool = field(default=False, init=False)
    characters: Characters = field(default_factory=Characters, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """What these vectors are good for."""
        return (
            "texts are compared by letters: spellings of one title are similar, other words for the "
            "same thing are not"
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A vector of length one for each text; all zeros for a text without a letter."""
        numbers: array[float] = array(FLOAT)
        for text in texts:
            numbers.extend(self._vector(text))
        return Matrix(memoryview(numbers), DIMS)

    def _vector(self, text: str) -> list[float]:
        sums = [0.0] * DIMS
        words = text[:MAX_CHARACTERS].translate(self.characters).split()
        for feature, times in Counter(part for word in words for part in _parts(word)).items():
            place, sign = _place(feature)
            sums[place] += sign * times**0.5  # the tenth mention says little that the first did not
        length = sum(each * each for each in sums) ** 0.5
        return [each / length for each in sums] if length else sums


def _parts(word: str) -> Iterator[str]:
    """The word itself and its runs of letters; blanks mark where it begins and ends."""
    if not any(map(str.isalnum, word)):
        return
    edged = f" {word} "
    yield edged
    yield from (edged[start : start + LETTERS] for start in range(len(edged) - LETTERS + 1))


def _place(feature: str) -> tuple[int, int]:
    """Not Python's own hash, which differs from process to process."""
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "little")
    return (number >> 1) % DIMS, 1 if number & 1 else -1

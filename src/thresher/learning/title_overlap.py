"""Title overlap: how much of a value in the body of a page also occurs in its head or its URL.

A page about a thing names it in its title. Where the body names something that the head does not, it may show
another thing: a recommendation in place of what is gone.
"""

from collections.abc import Sequence
from itertools import islice

from thresher.learning.outline import Outline
from thresher.learning.wording import words_of

MAX_WORDS = 30
HEARD = 0.5  # of the words: what is said less of is no echo


def echo(outline: Outline, texts: Sequence[str]) -> float | None:
    """The share of the words of a value that the head says; None where it has no word to listen for."""
    words = [word for text in texts for word in islice(words_of(text), MAX_WORDS)]
    return sum(word in outline.head for word in words) / len(words) if words else None


def usual_echo(echoes: Sequence[float | None]) -> float:
    """The least share on the known pages; nothing where one of them had little."""
    heard = [each for each in echoes if each is not None]
    return min(heard) if heard and len(heard) == len(echoes) and min(heard) >= HEARD else 0.0


def unheard(outline: Outline, texts: Sequence[str], usual: float) -> bool:
    """Whether the head says far less of a value than it does on the known pages."""
    heard = echo(outline, texts) if usual else None
    return heard is not None and heard <= usual / 2

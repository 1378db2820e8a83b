"""The technologies that a text names: what companies build with, and what titles differ by.

`skills.py` has them too, and what people can do besides.
"""

from functools import cache
from importlib.resources import files

from thresher.hiring.mentions import Lexicon, Mention, families_of, lexicon, prepared, read_entries
from thresher.reading.structured.yaml_file import read_yaml


def technologies(text: str) -> list[Mention]:
    """Every mention of a technology, in the order of the text. Of overlapping ones the longer counts."""
    return all_technologies().mentions(prepared(text))


def names(text: str) -> tuple[str, ...]:
    """The technologies that a text names, each once, in the order of the text."""
    return tuple(dict.fromkeys(mention.name for mention in technologies(text)))


def known_as(word: str) -> str:
    """Return our name for a technology as written in a profile: `golang` is go, `k8s` kubernetes. Otherwise
    the word itself.
    """
    return all_technologies().known_as(word)


def family(name: str) -> str | None:
    """The sort of technology: language, frontend, backend, data, ai, learning, infrastructure, testing,
    business.
    """
    return all_technologies().family(name)


@cache
def all_technologies() -> Lexicon:
    """What is known; read when it is first needed."""
    listed = read_yaml((files("thresher.hiring") / "vocabulary" / "technology.yaml").read_text("utf-8"))
    return lexicon(read_entries(listed), families_of(listed))

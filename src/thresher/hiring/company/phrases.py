"""The phrases in which companies describe themselves, from the vocabulary file."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.reading.structured.yaml_file import read_yaml
from thresher.reading.text.vocabulary import Words


@cache
def phrases(name: str, key: str = "") -> tuple[str, ...]:
    """The phrases of one entry, in lower case."""
    said = _file()[name][key] if key else _file()[name]
    return tuple(
        dict.fromkeys(phrase for piece in said.split(";") if (phrase := " ".join(piece.lower().split())))
    )


@cache
def phrases_of(name: str, key: str = "") -> Words:
    """The same, to be looked for."""
    return Words(phrases(name, key))


@cache
def one_of(name: str, key: str = "") -> str:
    """The same, as a part of a pattern; the longest first, so that it is the one that is found."""
    return "|".join(re.escape(phrase) for phrase in sorted(phrases(name, key), key=len, reverse=True))


@cache
def labels() -> Mapping[str, str]:
    """The fields that labels name, by the label."""
    return {phrase: field for field in _file()["label"] for phrase in phrases("label", field)}


@cache
def _file() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(
        (files("thresher.hiring") / "vocabulary" / "company.yaml").read_text("utf-8")
    )
    return found

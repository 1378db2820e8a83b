"""A finding: a value that was read in a text, and the characters it stands in. Everything that reads postings
answers with these.

A text is made flat before it is read: small letters, plain dashes and spaces, every character at its place.
So a place in the flat text is a place in the text itself.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from thresher.core.evidence import Place

Value = TypeVar("Value")

# What pages write in several ways, as the one that we look for. One character for one character.
_PLAIN = {
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\u2007": " ",
    "\t": " ",
    "\r": " ",
    "*": " ",
    "_": " ",
    "\\": " ",
    "`": " ",
    "\u2013": "-",
    "\u2014": "-",
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2212": "-",
    "\u2019": "'",
    "\u2018": "'",
    "\u00b4": "'",
}


@dataclass(frozen=True, slots=True)
class Finding(Generic[Value]):
    """`value` stands in the characters `start` to `end`."""

    value: Value
    start: int
    end: int


def flat(text: str) -> str:
    """The text as it is read; every character stays at its place."""
    low = text.lower()
    if len(low) != len(text):  # some letters grow when they are lowered
        low = "".join(small if len(small := char.lower()) == 1 else char for char in text)
    plain = _PLAIN if not low.isascii() else _ASCII
    for written, meant in plain.items():
        low = low.replace(written, meant)
    return low


_ASCII = {written: meant for written, meant in _PLAIN.items() if written.isascii()}


def place(finding: Finding[Value], text: str, path: str | None = None) -> Place:
    """Where a finding stands, as evidence: in a named field by its path, in the description by its
    characters.
    """
    quote = text[finding.start : finding.end]
    return Place(quote, path=path) if path else Place(quote, finding.start, finding.end)

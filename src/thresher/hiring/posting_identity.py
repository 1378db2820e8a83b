"""What tells that two postings are one although their numbers differ: title, company, place and how the
description begins.

Far coarser than a fingerprint, and far cheaper: it is taken of every posting that comes in. Where a posting
says too little (no company, or neither place nor description) there is none, because two strangers would be
taken for one.
"""

import hashlib
import re
import unicodedata
from functools import lru_cache

from thresher.hiring.fingerprint import firm

BEGINNING = 100  # letters and digits of the description that are compared
_READ = 400  # characters in which they are looked for: spaces, stars and dashes do not count
_MOSTLY = 160  # characters in which most texts have them
_WORD = re.compile(r"\w+")
_ASCII = [chr(byte) for byte in range(128)]
_OTHERS = bytes(ord(char) for char in _ASCII if not char.isalnum() and char != "_")
_LOWER = bytes(range(256)).lower()
_DIVIDING = "".join(" " if ord(char) in _OTHERS else char.lower() for char in _ASCII)


def content_of(title: str, company: str | None, location: str | None, description: str | None) -> str | None:
    """A short text that is equal for the same posting; None where too little is said."""
    whose = firm(company) if company else ""
    if not whose or not (location or description):
        return None
    begins = _beginning(description) if description else "-"  # says that there is none; no word is a dash
    said = f"{_line(title)}\x1f{whose}\x1f{_line(location or '')}\x1f{begins}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


def _beginning(text: str) -> str:
    few = text[:_READ]
    if not few.isascii():
        return "".join(_words(few))[:BEGINNING]
    found = few[:_MOSTLY].encode().translate(_LOWER, _OTHERS)  # the same as by words, and many times as fast
    if len(found) < BEGINNING:
        found = few.encode().translate(_LOWER, _OTHERS)
    return found[:BEGINNING].decode()


def _bare(text: str) -> str:
    return " ".join(text.translate(_DIVIDING).split() if text.isascii() else _words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


_line = lru_cache(4_096)(_bare)  # titles and places come again and again

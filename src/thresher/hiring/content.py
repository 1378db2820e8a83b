"""What tells that two postings are one although their numbers differ: title, company, place and how the description begins.

Far coarser than a fingerprint, and far cheaper: it is taken of every posting that comes in. Where a posting says too little (no
company, or neither place nor description) there is none, because two strangers would be taken for one.
"""

import hashlib
import re
import unicodedata
from functools import lru_cache

from thresher.hiring.print import firm

BEGINNING = 100  # characters of the description, as they are compared
_READ = 400  # of it, as it is written: spaces, stars and dashes do not count
_WORD = re.compile(r"\w+")
_DIVIDING = "".join(char if char.isalnum() or char == "_" else " " for char in map(chr, range(128)))


def content_of(title: str, company: str | None, location: str | None, description: str | None) -> str | None:
    """A short text that is equal for the same posting; None where too little is said."""
    whose = firm(company) if company else ""
    if not whose or not (location or description):
        return None
    begins = _bare(description[:_READ])[:BEGINNING] if description else "-"  # says that there is none; no word is a dash
    said = f"{_line(title)}\x1f{whose}\x1f{_line(location or '')}\x1f{begins}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


def _bare(text: str) -> str:
    if text.isascii():  # the same, and ten times as fast
        return " ".join(text.translate(_DIVIDING).lower().split())
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


_line = lru_cache(4_096)(_bare)  # titles and places come again and again

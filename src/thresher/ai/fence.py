"""Quoting what others wrote, so that a model can tell it from what we say.

A page knows its own words, but not the mark around them: that is made from a hash of everything quoted, and
changes when a single character does. So a page can neither open nor close its quotation. Characters that no
reader sees are left out, because they carry messages past the person who looks at the page.
"""

import re
from hashlib import sha256

# Line ends of every kind become one; control characters, surrogates, private use and all that Unicode calls
# ignorable go: zero width and soft hyphens, bidirectional controls, fillers, variation selectors, and the
# invisible alphabet of tags.
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)


def seen(text: str) -> str:
    """The text as a person sees it. Only for asking: evidence counts in the text as it is stored."""
    return _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))


def mark_of(*contents: str) -> str:
    """The mark around these contents: the same for the same ones, and known to nobody who wrote them."""
    return sha256("\0".join(contents).encode()).hexdigest()[:32]


def fenced(name: str, content: str, mark: str) -> str:
    """The content, quoted."""
    return f"<<<{name} {mark}\n{content}\n{mark} {name}>>>"

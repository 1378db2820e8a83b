"""Wording: when two texts say the same value, and what value a text says for a field of some kind.

Pages write a value with other spaces, capitals and entities than whoever labelled it. Comparisons are made on
squeezed texts; what is handed out is always the text as it stands.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from thresher.core.schema import Field, Kind, Value
from thresher.reading.html.document import Document

MAX_TEXT = 20_000
_SPACE = re.compile(r"[\s\u00ad\u200b\u2060\ufeff]+")
_NUMBER = re.compile(r"[-+]?\d[\d.,'\u00a0\u202f]*")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-"})
_WORD = re.compile(r"[^\W_]{1,60}")
_YES = frozenset({"true", "yes", "y", "1", "available", "instock", "✓", "✔"})
_NO = frozenset({"false", "no", "n", "0", "unavailable", "outofstock", "✗", "✘"})


def one_line(text: str) -> str:
    return " ".join(text[:MAX_TEXT].split())


def squeezed(text: str) -> str:
    """A text as it is compared: no spaces, no capitals, no entities, plain quotes and dashes."""
    text = text[:MAX_TEXT]
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return _SPACE.sub("", text).casefold()


def words_of(text: str) -> Iterator[str]:
    """The words of a text, small ones left out: "of" stands in every title."""
    return (
        match[0].casefold() for match in _WORD.finditer(html.unescape(text[:MAX_TEXT])) if len(match[0]) > 2
    )


def number(text: str) -> Decimal | None:
    """The one number in a text; None where there are several or none."""
    found = _NUMBER.findall(text[:MAX_TEXT])
    return amount(found[0]) if len(found) == 1 else None


def amount(token: str) -> Decimal | None:
    """A number as people write it: the last separator parts the decimals unless three digits follow it and no
    other kind stands before.
    """
    token = re.sub(r"['\u00a0\u202f]", "", token).rstrip(".,")
    last = max(token.rfind("."), token.rfind(","))
    if last >= 0:
        sign, kinds = token[last], {each for each in token if each in ".,"}
        grouped = token.count(sign) > 1 or (
            len(kinds) == 1 and len(token) - last - 1 == 3 and (sign == "," or token.count(".") > 1)
        )
        whole, part = (token, "") if grouped else (token[:last], token[last + 1 :])
        token = re.sub(r"[.,]", "", whole) + (f".{part}" if part else "")
    try:
        return Decimal(token)
    except InvalidOperation:
        return None


def says(text: str, truth: Any) -> bool:
    """Whether a text says a known value, no more and no less."""
    if isinstance(truth, bool):
        return said_truth(text) is truth
    if isinstance(truth, int | float):
        return number(text) == Decimal(str(truth))
    return squeezed(text) == squeezed(str(truth))


def said_truth(text: str) -> bool | None:
    key = squeezed(text)
    return True if key in _YES else False if key in _NO else None


def value_of(field: Field, text: str, document: Document) -> Value:
    """What a text says, as a value of the field's kind; None where it says no such value."""
    match field.kind:
        case Kind.INTEGER:
            found = number(text)
            return int(found) if found is not None and found == found.to_integral_value() else None
        case Kind.NUMBER:
            found = number(text)
            return float(found) if found is not None else None
        case Kind.BOOLEAN:
            return said_truth(text)
        case Kind.URL:
            return (document.absolute(text) if document.base_url else None) or text.strip() or None
        case _:
            text = one_line(text)
            if field.choices:
                return next((choice for choice in field.choices if squeezed(choice) == squeezed(text)), None)
            return text or None


def word_spans(text: str, truth: Any) -> list[tuple[int, int]]:
    """Where in a one-line text a value stands as whole words."""
    if isinstance(truth, bool):
        return []
    if isinstance(truth, int | float):
        wanted = Decimal(str(truth))
        return [match.span() for match in _NUMBER.finditer(text) if amount(match[0]) == wanted]
    wanted_text = one_line(html.unescape(str(truth))).lower()
    lowered = text.lower()
    if not wanted_text or len(lowered) != len(text):
        return []
    found: list[tuple[int, int]] = []
    at = lowered.find(wanted_text)
    while at >= 0 and len(found) < 20:
        end = at + len(wanted_text)
        if _edge(lowered, at) and _edge(lowered, end):
            found.append((at, end))
        at = lowered.find(wanted_text, end)
    return found


def _edge(text: str, at: int) -> bool:
    return not (0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())

"""The row of a posting in a board's list: its identity, its URL as compared, and what is stored of it.

A list is somebody else's text. Invalid URLs are dropped, long texts are cut, and nothing in a row can break
the look that found it.
"""

import hashlib
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from thresher.core.errors import InvalidUrl
from thresher.core.evidence import Evidence, PlacesAt
from thresher.core.keys import canonical_url
from thresher.core.record import clean
from thresher.hiring.records import BoardRecord, PostingFields, company_name_key, posting_key
from thresher.hiring.same_opening import page_at
from thresher.reading.postings.posting import Posting, Salary

# The URL of a posting as compared: host, path, meaningful query, and the site's number for the page.

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# A year is no number, and two figures are too few to be one.
_NUMBER = rf"(?:{_UUID}|(?!(?:19|20)[0-9][0-9](?![0-9]))[0-9]{{3,20}})"
_FIRST = re.compile(rf"(?P<number>{_NUMBER})(?:$|[-_.])", re.IGNORECASE)
_LAST = re.compile(rf"(?:^|[-_])(?P<number>{_NUMBER})(?:\.[a-z]{{2,5}})?$", re.IGNORECASE)
_ALONE = re.compile(_NUMBER, re.IGNORECASE)


def print_of_address(url: str | None) -> str:
    """The three fingerprints of an address in its one spelling. Each is empty where there is nothing to tell
    pages apart by.
    """
    path, _, query = page_at(url or "").partition("?")
    return f"{_short(path)}.{_short(query)}.{_short(number_in(path))}"


def number_in(path: str) -> str:
    """A path without its words: what is before the number, and the number. Empty where there is none, or more
    than one may be it.
    """
    *before, last = path.rstrip("/").split("/")
    first, end = _FIRST.match(last), _LAST.search(last)
    if first and end and first["number"] != end["number"]:
        return ""
    if found := first or end:
        return "/".join((*before, found["number"].lower()))
    if before and _ALONE.fullmatch(before[-1]):  # /careers/4711/smith
        return "/".join(before).lower()
    return ""


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=5).hexdigest() if text else ""


MAX_DESCRIPTION = 30_000  # characters
MAX_DESCRIPTION_BYTES = 45_000  # as JSON: a record has to stay below the limit of the queue
MAX_CHARACTER_BYTES = 6  # as JSON: an escape
MAX_LINE = 500
MAX_KEY = 400


def key_of(board: str, posting: Posting) -> str:
    """The key of a posting's record. Its address is looked at only where it has no number."""
    number = clean(posting.key) if posting.key else None
    key = posting_key(board, number, None if number else address(posting), clean(posting.title))
    return (
        key if len(key) <= MAX_KEY else f"{board[:MAX_KEY]}/{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    )


def address(posting: Posting) -> str | None:
    """Its address in the one spelling, where it is one."""
    try:
        return canonical_url(clean(posting.url)) if posting.url else None
    except InvalidUrl:
        return None


def listed(posting: Posting) -> str:
    """A fingerprint of how a row reads. Its number, its address and its date are no part of it: they change
    when nothing has.
    """
    salary = posting.salary.text if posting.salary else ""
    said = (
        posting.title,
        posting.company,
        posting.location,
        posting.employment_type,
        salary,
        posting.description,
    )
    words = b"\x1f".join([_words(each) if each else b"" for each in said])
    return hashlib.blake2b(words, digest_size=12).hexdigest()


_SPACES = bytes.maketrans(b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f", b" " * 9)


def _words(text: str) -> bytes:
    """The words of a text with one space between them. Every row of every list is compared by them, so a text
    in plain ASCII is not taken apart: its spaces are drawn together.
    """
    if not text.isascii():
        return " ".join(text.split()).encode("utf-8", "replace")
    words = text.encode().translate(_SPACES).strip()
    while b"  " in words:
        words = words.replace(b"  ", b" ")
    return words


def marked(posting: Posting) -> str:
    """What a look keeps of a row to compare the next one with: how it reads, and where it leads."""
    return f"{listed(posting)}.{print_of_address(address(posting))}"


def fields(posting: Posting) -> PostingFields:
    """What a row says, as it is written down. What it does not say is left out: another page may say it."""
    said: PostingFields = {}
    if title := _line(posting.title):
        said["title"] = title
    if location := _line(posting.location):
        said["location"] = location
    if url := address(posting):
        said["url"] = url
    if posting.posted_date:
        said["posted"] = posting.posted_date.isoformat()
    if employment_type := _line(posting.employment_type):
        said["employment_type"] = employment_type
    if posting.remote:
        said["remote"] = posting.remote
    if posting.salary and (salary := _salary(posting.salary)):
        said["salary"] = salary
    if posting.description and (description := _cut(posting.description)):
        said["description"] = description
    if number := _line(posting.key):
        said["number"] = number
    return said


def _line(text: str | None) -> str | None:
    return clean(text)[:MAX_LINE] if text else None


_WORKED_OUT = frozenset(("posted", "remote"))


def evidence_of(posting: Posting, said: PostingFields, source: str | None) -> Evidence:
    """Where each value stands: in which answer, and in which part of it. A date was worked out from the row,
    so it has no place.
    """
    path = clean(posting.where)[:MAX_LINE] or "row"
    quotes: dict[str, str | None] = {
        name: value if type(value) is str else _quote(value) for name, value in said.items()
    }
    quotes |= {name: None for name in _WORKED_OUT if name in quotes}
    return Evidence(PlacesAt(quotes, path), source)


def owned_by(posting: Posting, board: BoardRecord) -> tuple[str, str | None]:
    """The name of the company that hires, and its key where it is known: a board that gathers rows of many
    owns none of them.
    """
    own, said = board.company_name or "", clean(posting.company or "").strip()[:MAX_LINE]
    key = board.company or None
    if not said or (key and _is_same(said, own)):
        return said or own, key
    return said, company_name_key(said) or None


def _is_same(said: str, own: str) -> bool:
    one, other = company_name_key(said), company_name_key(own)
    return bool(one and other) and (one in other or other in one)


def _quote(value: Any) -> str:
    return str(value["text"] if isinstance(value, Mapping) else value)


def _cut(text: str) -> str:
    """At most as much as fits into a record, counted in bytes as JSON writes them: a character may take
    six.
    """
    text = clean(text)[:MAX_DESCRIPTION]
    if len(text) * MAX_CHARACTER_BYTES <= MAX_DESCRIPTION_BYTES:
        return text
    while len(orjson.dumps(text)) > MAX_DESCRIPTION_BYTES:
        text = text[: len(text) * 3 // 4]
    return text


def _salary(salary: Salary) -> dict[str, Any]:
    found = {
        "text": clean(salary.text)[:MAX_LINE],
        "low": _number(salary.low),
        "high": _number(salary.high),
        "currency": salary.currency,
        "period": salary.period,
    }
    return {name: value for name, value in found.items() if value is not None}


def _number(value: Decimal | None) -> int | float | None:
    if value is None or not value.is_finite() or abs(value) > 10**15:
        return None
    return int(value) if value == value.to_integral_value() else float(value)

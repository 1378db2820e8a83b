"""The address of a posting as looks compare it: where it leads, what it asks there, and by which number the
site knows the page.

Three fingerprints with dots between, short enough to be kept with every posting. The query stands apart
because some sites write something else into it with every answer. The number is there because sites write the
title into the address: an edit of the one is then another address of the same page (`/careers/4711-smith`,
`/careers/4711-senior-smith`).
"""

import hashlib
import re

from thresher.hiring.group import page_at

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

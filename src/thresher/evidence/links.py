"""Addresses of a page: whether one of them leads where a value says, however either is written."""

import re

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.keys import MAX_URL, canonical_url

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_CONTACT = re.compile(r"mailto:|tel:", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}(?:/\S{0,2000})?", re.IGNORECASE)


def destination(written: str, near: str | None) -> str | None:
    """Where an address leads, without its scheme and last slash, or None. `near` is the page that it stands
    on.
    """
    address = written.strip()
    if not address or len(address) > MAX_URL or address.startswith("#"):
        return None
    if _CONTACT.match(address):
        return address.lower()
    if not _SCHEME.match(address):
        address = _whole(address, near)
    try:
        found = canonical_url(address)
    except InvalidUrl:
        # Without the page's own address, a path can still be compared with a path.
        return address if address.startswith("/") else None
    return found.partition("://")[2].removesuffix("/")


def _whole(address: str, near: str | None) -> str:
    if _HOST.fullmatch(address) and not address.startswith("/"):
        return f"http://{address}"
    try:
        return ada_url.join_url(near, address) if near else address
    except ValueError:
        return address

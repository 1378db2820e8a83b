"""What the address of a page asks for, and addresses that ask for something."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from thresher.core.errors import UnknownName, UsageError
from thresher.web.pages.page import PageRequest
from thresher.web.route import MAX_ID

MAX_DIGITS = len(str(MAX_ID))


def text_asked(page_request: PageRequest, name: str) -> str | None:
    """A parameter of the address. What is left empty in a form is not asked for."""
    return page_request.request.query_params.get(name, "").strip() or None


def number_asked(page_request: PageRequest, name: str) -> int | None:
    """A parameter that is an id or a count."""
    text = text_asked(page_request, name)
    if text is None:
        return None
    if (number := _whole(text)) is None:
        raise UsageError(f"{name} must be a whole number from 0 to {MAX_ID:,}, got {text[:40]!r}")
    return number


def id_in_path(page_request: PageRequest, name: str, what: str, seen_at: str) -> int:
    """The id in the path of a page. `what` is what it names, and `seen_at` the list of those."""
    text = page_request.request.path_params[name]
    number = _whole(text)
    if number is None:
        raise UnknownName(f"{text[:40]!r} is not the id of a {what}; see {seen_at}")
    return number


def _whole(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if is_number and int(text) <= MAX_ID else None


def address(path: str, asked: Mapping[str, Any] = {}, /, **more: Any) -> str:
    """A path with parameters; those that are None or empty are left out."""
    given = {name: value for name, value in {**asked, **more}.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path

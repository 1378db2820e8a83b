"""What a site is asked and what it answers: plain values, so that every site is a pure function from one to
the other.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from thresher.practice.web.knob import Knob, Trouble

Json = Any
MAX_NUMBER = 999_999


@dataclass(frozen=True, slots=True)
class WebRequest:
    """One request as a site sees it. Header names in lower case; `count` is how many this host had before.

    `twists` are the knobs that change what a site says, by their trouble.
    """

    host: str
    path: str
    seed: int
    now: datetime
    method: str = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    count: int = 0
    twists: Mapping[Trouble, Knob] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The path's segments, without empty ones."""
        return tuple(part for part in self.path.split("/") if part)

    def number(self, name: str, otherwise: int) -> int:
        """A whole number from the query; what cannot be one counts as absent."""
        text = self.query.get(name, "")
        value = whole(text.removeprefix("-"))
        if not 0 <= value <= MAX_NUMBER:
            return otherwise
        return -value if text.startswith("-") else value

    def posted(self) -> Json:
        """The JSON body, or None."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class WebResponse:
    """One answer. `etag` is made from the body, so that it changes exactly when the body does."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    etag: str = ""
    modified: datetime | None = None

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


def whole(text: str) -> int:
    """A whole number as an address has it; -1 for what is none. `isdigit` alone would let a superscript two
    through.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1


def page(text: str, status: int = 200, *, modified: datetime | None = None) -> WebResponse:
    return made(text.encode(), "text/html; charset=utf-8", status, modified=modified)


def data(value: Json, status: int = 200, *, modified: datetime | None = None) -> WebResponse:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return made(body, "application/json; charset=utf-8", status, modified=modified)


def xml(text: str, kind: str = "application/xml", *, modified: datetime | None = None) -> WebResponse:
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
    return made(body, f"{kind}; charset=utf-8", modified=modified)


def plain(text: str, status: int = 200) -> WebResponse:
    return made(text.encode(), "text/plain; charset=utf-8", status)


def redirect(target: str, status: int = 302) -> WebResponse:
    return WebResponse(status, b"", {"location": target, "content-type": "text/html; charset=utf-8"})


def made(body: bytes, kind: str, status: int = 200, *, modified: datetime | None = None) -> WebResponse:
    return WebResponse(
        status, body, {"content-type": kind}, f'"{blake2b(body, digest_size=10).hexdigest()}"', modified
    )

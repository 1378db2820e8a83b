"""Which hiring board an address or a page belongs to.

A board is known by its platform and its token, the name under which the platform keeps it. Addresses are
compared by host, never by a piece of text: `idealever.com` is not `lever.co`, and `lever.co@evil.example` is
not either.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

import ada_url

from thresher.core.keys import MAX_URL, REMEMBERED
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.platforms.platform import Platform, platform_named, platforms
from thresher.reading.platforms.template import filled, holes
from thresher.reading.text.vocabulary import words

MAX_HTML = 1_000_000  # characters searched for marks
MAX_LINKS = 5_000
MAX_MARKS = 500
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_EMBEDDED = (
    "iframe[src], script[src], form[action], link[rel=canonical][href], meta[property='og:url'][content]"
)


@dataclass(frozen=True, slots=True)
class Board:
    """`token` is None where a page shows the platform but not the name. `parts` fill the platform's
    endpoint.
    """

    platform: str
    token: str | None
    url: str
    parts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def endpoint(self) -> str | None:
        """Where the list of postings is asked for; None where the platform has no such place, or a part is
        missing.
        """
        found = platform_named(self.platform)
        if found is None or found.endpoint is None:
            return None
        if found.endpoint.is_fixed:
            return found.endpoint.url
        if self.token is None:
            return ada_url.join_url(self.url, found.endpoint.own) if found.endpoint.own and self.url else None
        return filled(found.endpoint.url, self.parts)


def recognise(url: str) -> Board | None:
    """The board that an address belongs to: its home, a posting on it, its API, its embedded form."""
    target = target_of(url)
    if target is None:
        return None
    for platform in platforms():
        if board := _recognised(platform, target):
            return board
    return None


def is_partial(board: Board) -> bool:
    """Whether an address names a board but lacks a part that its list is requested by, such as the data
    centre of a Workday tenant.
    """
    platform = platform_named(board.platform)
    listed = platform is not None and platform.endpoint is not None
    return listed and board.token is not None and board.endpoint is None


def board_named(platform: str, token: str, parts: Mapping[str, str] = {}) -> Board | None:
    """The board that a platform keeps under a token; None where there is no such platform, or no such token
    can be on it.

    Parts that are not said are left out, as the region of a platform that is the same everywhere.
    """
    found = platform_named(platform)
    if found is None or found.home is None:
        return None
    given = dict.fromkeys(holes(found.home), "") | dict(parts) | {"token": token}
    home = filled(found.home, given)
    target = target_of(home) if home else None
    board = _recognised(found, target) if target else None
    return board if board and (board.token or "").lower() == token.lower() else None


def parts_of(board: Board) -> Mapping[str, str] | None:
    """What fills the addresses of a board; None where its parts are not such as its platform's own patterns
    find.

    A stored or hand-written board may say anything; only what its platform could have said is put into an
    address.
    """
    if board.token is None:
        return {}
    again = board_named(board.platform, board.token, board.parts)
    said = {**board.parts, "token": board.parts.get("token", board.token)}
    if again is None or any(
        (again.parts.get(name) or "").lower() != value.lower() for name, value in said.items()
    ):
        return None
    return again.parts


def _recognised(platform: Platform, target: str) -> Board | None:
    for pattern in platform.urls:  # every link of a page comes by here
        if (match := pattern.match(target)) and (board := _board(platform, match)):
            return board
    return _only(platform, target) if platform.is_one_board else None


def _only(platform: Platform, target: str) -> Board | None:
    """The board of a platform that is a single list: at the address of the list, or of its page for
    people.
    """
    url = platform.endpoint.url if platform.endpoint else ""
    return (
        Board(platform.name, None, url)
        if target in (target_of(url), target_of(platform.home or ""))
        else None
    )


def key_in(platform: Platform, url: str | None) -> str | None:
    """The platform's own id of a posting, out of the posting's address."""
    return known_from(platform, url).get("id")


def known_from(platform: Platform, url: str | None) -> dict[str, str]:
    """What the address of a posting says, by the names that the platform's file gives."""
    target = target_of(url) if url and platform.posting else None
    match = platform.posting.search(target) if target and platform.posting else None
    return {name: unquote(value) for name, value in match.groupdict().items() if value} if match else {}


def fingerprint(document: Document) -> Board | None:
    """The board of a page: its own address, what it embeds, what scripts name, what it links to, what it is
    made of.
    """
    return (
        recognise(document.url)
        or next(
            (board for node in document.root.css(_EMBEDDED) if (board := recognise(_address(node)))), None
        )
        or _named(document.html[:MAX_HTML])
        or _linked(document)
        or _unnamed(document)
    )


def target_of(url: str) -> str | None:
    """Host, path and query as a browser would send them; None for what is no web address."""
    return _known(url) if len(url) <= REMEMBERED else _target(url)


def _target(url: str) -> str | None:
    url = url.strip()
    if not url or len(url) > MAX_URL:
        return None
    if url.startswith("//"):
        url = f"https:{url}"
    elif not _SCHEME.match(url) or re.match(r"^[\w.-]+:\d+(?:/|$)", url):
        url = f"https://{url}"
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return None
    if parsed.protocol not in ("http:", "https:"):
        return None
    return f"{parsed.hostname.rstrip('.')}{parsed.pathname}{parsed.search}"


_known = lru_cache(8_192)(_target)  # a page, its links and its postings are looked at from several sides


def _board(platform: Platform, match: re.Match[str]) -> Board | None:
    parts = {name: unquote(value or "").strip() for name, value in match.groupdict().items()}
    token = parts["token"]
    if not token or token.lower() in platform.reserved or any(char in token for char in '<>{}"\\'):
        return None
    home = filled(platform.home, parts) if platform.home else None
    return Board(platform.name, token, home or f"https://{match.string}", parts)


def _address(node: Node) -> str:
    return next(
        (value for name in ("src", "href", "action", "content") if (value := node.attribute(name))), ""
    )


def _named(html: str) -> Board | None:
    """The one board that scripts and embedded addresses name. Where they name several, none of them is the
    page's own.
    """
    found: dict[tuple[str, str | None], Board] = {}
    for platform in platforms():
        for mark in platform.marks:
            if mark.pattern and mark.has in html:
                for match in islice(mark.pattern.finditer(html), MAX_MARKS):
                    if board := _board(platform, match):
                        found.setdefault((board.platform, board.token), board)
    return next(iter(found.values())) if len(found) == 1 else None


def _unnamed(document: Document) -> Board | None:
    html = document.html[:MAX_HTML]
    for platform in platforms():
        if any(mark.pattern is None and mark.has in html for mark in platform.marks):
            return Board(platform.name, None, document.url)
    return None


def _linked(document: Document) -> Board | None:
    """The one board a page links to. Of several, the one whose link speaks of work here; a directory of
    boards has none.
    """
    boards: dict[tuple[str, str | None], tuple[Board, bool]] = {}
    for board, speaks in _links(document):
        key = (board.platform, board.token)
        boards[key] = (board, speaks or (key in boards and boards[key][1]))
    if len(boards) > 1:
        boards = {key: found for key, found in boards.items() if found[1]}
    return next(iter(boards.values()))[0] if len(boards) == 1 else None


def _links(document: Document) -> Iterator[tuple[Board, bool]]:
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        if (url := document.absolute(node.attribute("href") or "")) and (board := recognise(url)):
            yield board, words("careers").names(node.line)

"""Try a candidate, a board that may be a company's: make the first call of a scrape once, and report what it
returned. Nothing is stored.

It needs only something that fetches, so a stage, a command and a test try a board the same way.
"""

import os
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from thresher.apps.jobs.scraping.page_result import PageResult, read_sight
from thresher.core.clock import day_of
from thresher.core.credentials import Credentials
from thresher.core.errors import InvalidUrl
from thresher.core.keys import parse
from thresher.core.page import Look, Page, Verdict
from thresher.hiring.names import COMMON, MAX_LENGTH, MIN_LENGTH, label_of, name_words, sets_apart
from thresher.hiring.ownership import Method
from thresher.hiring.records import BoardRecord
from thresher.reading.platforms.boards import Board, board_named, recognise
from thresher.reading.platforms.calls import Call, list_call, with_auth
from thresher.reading.platforms.platform import Platform, guessable, platform_named
from thresher.reading.postings.posting import Posting
from thresher.reading.values.addresses import read_address, registered_domain

FEED = "rss"
SAMPLE = 5
T = TypeVar("T")

ReadMore = Callable[[Page, PageResult], Awaitable[PageResult]]


class Hand(Protocol):
    """Whatever fetches pages, and has them read."""

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        render: bool | None = False,
        max_age: float | None = None,
        credentials: Credentials | None = None,
    ) -> Page: ...

    async def compute(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


@dataclass(frozen=True, slots=True)
class Trial:
    """How the look ended, and what it saw. `page` is the answer itself; `is_page`: it was made for people."""

    board: Board
    look: Look
    url: str = ""
    status: int | None = None
    postings: tuple[Posting, ...] = ()
    total: int | None = None
    page: Page | None = None
    is_page: bool = False

    @property
    def count(self) -> int:
        return len(self.postings)

    @property
    def sample(self) -> tuple[str, ...]:
        """Return the first titles: enough to see whose openings these are."""
        return tuple(posting.title for posting in self.postings[:SAMPLE])


async def trial(hand: Hand, board: BoardRecord) -> Trial:
    """Try the board of a record."""
    return await look_at(hand, board.address)


async def look_at(
    hand: Hand,
    board: Board,
    *,
    max_age: float | None = None,
    read_more: ReadMore | None = None,
    env: Mapping[str, str] = os.environ,
) -> Trial:
    """Make the call for a board's list, and read the answer as a scrape does. `read_more` reads what shows no
    rows to our own rules.

    Raises what the fetch raises, and `ConfigError` where a key is missing.
    """
    call = first_call(board)
    if call is None:
        return Trial(
            board,
            Look(
                Verdict.UNKNOWN,
                f"{board.url} does not contain what is needed to request its list from {board.platform}",
            ),
        )
    platform = platform_named(board.platform)
    sent = with_auth(call, platform, env) if platform else call
    # A board's own answer is data; only a page for people can be an empty shell.
    render = None if call.method == "GET" and not _has_list(platform) else False
    page = await hand.fetch(
        sent.url,
        method=sent.method,
        headers=sent.headers,
        body=sent.body,
        render=render,
        max_age=max_age,
        credentials=sent.credentials,
    )
    if elsewhere := _elsewhere(board, call, page):
        return Trial(board, Look(Verdict.UNKNOWN, elsewhere), call.url, page.status)
    sight = await hand.compute(read_sight, page, board, day_of(page.fetched_at))
    sight = await read_more(page, sight) if read_more else sight
    postings = sight.listing.postings if sight.look.verdict is Verdict.FOUND else ()
    return Trial(board, sight.look, call.url, page.status, postings, sight.listing.total, page, sight.is_page)


def first_call(board: Board) -> Call | None:
    """The call a scrape begins with: for the list where the platform has one, else for the page that people
    see.
    """
    if _has_list(platform_named(board.platform)):
        return list_call(board)
    return Call(board.url) if board.url.startswith(("http://", "https://")) else None


def is_one_site(one: str, other: str) -> bool:
    """Whether two addresses are of one registered domain; where none is known, whether one host is below the
    other.
    """
    try:
        first, second = (parse(url).hostname.removeprefix("www.") for url in (one, other))
    except InvalidUrl:
        return False
    if (domain := registered_domain(first)) is not None:
        return domain == registered_domain(second)
    return first == second or first.endswith(f".{second}") or second.endswith(f".{first}")


def _has_list(platform: Platform | None) -> bool:
    return platform is not None and platform.endpoint is not None


def _elsewhere(board: Board, call: Call, page: Page) -> str | None:
    """Why the answer is not this board's: a token was put into the address, and the answer came from
    somewhere else.
    """
    asked, answered = parse(call.url).hostname, parse(page.final_url).hostname
    if asked == answered:
        return None
    if _has_list(platform_named(board.platform)):
        return f"{asked} redirects to {answered}, which does not have the board's list"
    if not is_one_site(call.url, page.final_url) or recognise(page.final_url):
        return f"{asked} redirects to {answered}, which is another site"
    return None


# A candidate: a board that may be a company's, how it was found, and the result of trying it.

# Slugs: tokens under which a company may keep its board, derived from its host and its name. A guess, never a
# proof.

MAX_SLUGS = 4
MAX_SLUG = 60
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# German names are often written with the umlaut spelled out.
_SPELT_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def slugs(name: str | None, website: str | None = None, most: int = MAX_SLUGS) -> tuple[str, ...]:
    """Tokens worth a try, the likeliest first, `most` at most."""
    said = unicodedata.normalize("NFC", (name or "")[:MAX_LENGTH])
    spellings = (said, said.lower().translate(_SPELT_OUT))
    guesses = [_label(website), *(guess for each in spellings for guess in _of(name_words(each)))]
    return tuple(dict.fromkeys(guess for guess in guesses if guess and _is_slug(guess)))[:most]


def _of(words: tuple[str, ...]) -> tuple[str, ...]:
    """A name written together and with hyphens; nothing where its words name nobody in particular."""
    return ("".join(words), "-".join(words)) if sets_apart(words) else ()


def _label(website: str | None) -> str | None:
    """What a company calls its domain. A board's own host is nobody's site."""
    if not website or recognise(website):
        return None
    try:
        address = read_address(website if "//" in website[:10] else f"https://{website}")
    except InvalidUrl:
        return None
    return label_of(address.hostname) if address.protocol in ("http:", "https:") else None


def _is_slug(text: str) -> bool:
    letters = text.replace("-", "")
    fits = len(letters) >= MIN_LENGTH and len(text) <= MAX_SLUG and _SLUG.fullmatch(text) is not None
    return fits and text not in COMMON and not letters.isdecimal()


LOOK = "look"  # the method of a page that was only looked at
GONE, UNREACHED = (
    "gone",
    "unreached",
)  # besides the ends of a look: there is no such thing, and nobody answered


@dataclass(frozen=True, slots=True)
class Candidate:
    """`page` is the page that named it, where one did."""

    method: Method
    board: Board
    page: str | None = None

    def as_json(self) -> dict[str, Any]:
        board = self.board
        said = {
            "platform": board.platform,
            "token": board.token,
            "url": board.url,
            "parts": dict(board.parts),
        }
        return {"method": self.method.value, "page": self.page, **said}


def candidate_of(data: Mapping[str, Any]) -> Candidate:
    """The way back from JSON."""
    board = Board(data["platform"], data["token"], data["url"], data["parts"])
    return Candidate(Method(data["method"]), board, data["page"])


def guesses(name: str | None, website: str | None, most: int) -> tuple[Candidate, ...]:
    """Boards under names that a company might have chosen: its likeliest name on every platform, then the
    next.

    Only on platforms whose tokens are names at all. A token that cannot be on a platform is not tried there.
    """
    tokens = slugs(name, website) if name else ()
    boards = (board_named(platform.name, token) for token in tokens for platform in guessable())
    return tuple(Candidate(Method.GUESS, board) for board in boards if board)[:most]

"""Follow a company's pages: from its home page to its careers page, and on to the board, the feed or the
rows.

A few pages at most. What a page shows is only a candidate; no board is called here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from thresher.apps.jobs.discovery.trial import FEED, GONE, LOOK, Candidate, Hand, is_one_site
from thresher.core.clock import day_of
from thresher.core.errors import Blocked, Gone, InvalidUrl, Permanent, TaskError, Unauthorized
from thresher.core.keys import canonical_url
from thresher.core.page import Page, Verdict
from thresher.hiring.ownership import Method
from thresher.hiring.records import SITE, TriedAddress
from thresher.reading.inspect.body import Body, Format, read_body
from thresher.reading.inspect.inspection import Inspection, inspect
from thresher.reading.inspect.report import PageKind
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.text.vocabulary import words
from thresher.reading.values.addresses import read_address

MAX_FEEDS = 2
MAX_LEADS = 4
MAX_LINKS = 3_000
MAX_LINK = 60  # characters: what is longer is a sentence, not a link to openings
_FEEDS = "link[rel~=alternate][type='application/rss+xml'], link[rel~=alternate][type='application/atom+xml']"


@dataclass(slots=True)
class Sighting:
    """What was seen on the way. `wall` is what stood before the company's own site; `lists`: a page lists
    openings itself.
    """

    candidates: list[Candidate] = field(default_factory=list)
    tried: list[TriedAddress] = field(default_factory=list)
    wall: TaskError | None = None
    lists: bool = False
    seen: set[str] = field(default_factory=set)

    def ordered(self) -> tuple[Candidate, ...]:
        """Boards of platforms first, then feeds, then pages; of pages the last, for the walk goes towards the
        openings.
        """
        ranks, latest = {FEED: 1, SITE: 2}, list(reversed(self.candidates))
        return tuple(sorted(latest, key=lambda each: ranks.get(each.board.platform, 0)))

    @property
    def has_board(self) -> bool:
        return any(each.board.platform not in (FEED, SITE) for each in self.candidates)


async def sight(hand: Hand, starts: list[str], *, most: int, max_age: float) -> Sighting:
    """Follow a company's pages until one shows a board. Errors that ask for patience pass; others end that
    page only.
    """
    found, waiting = Sighting(), list(starts)
    while waiting and len(found.seen) < most and not found.has_board:
        url = waiting.pop(0)
        if (key := _key(url)) is None or key in found.seen:
            continue
        found.seen.add(key)
        try:
            page = await hand.fetch(url, render=None, max_age=max_age)
            noted = await hand.compute(_noted, page)
        except (Blocked, Unauthorized) as problem:
            found.wall = found.wall or (problem if any(is_one_site(url, start) for start in starts) else None)
            found.tried.append(TriedAddress(LOOK, url, Verdict.BLOCKED, reason=str(problem)))
        except Permanent as problem:
            verdict = GONE if isinstance(problem, Gone) else Verdict.UNKNOWN
            found.tried.append(TriedAddress(LOOK, url, verdict, reason=str(problem)))
        else:
            found.seen.add(_key(page.final_url) or key)
            found.candidates += noted.candidates
            found.tried += noted.tried
            found.lists = found.lists or noted.lists
            waiting[:0] = noted.leads
    return found


@dataclass(slots=True)
class _Noted:
    """What one page shows; `leads` are the pages to go on with."""

    candidates: list[Candidate] = field(default_factory=list)
    tried: list[TriedAddress] = field(default_factory=list)
    lists: bool = False
    leads: list[str] = field(default_factory=list)


def _noted(page: Page) -> _Noted:
    body = read_body(page)
    if body.is_feed:
        return _Noted([Candidate(Method.URL, Board(FEED, None, page.final_url))])
    seen = inspect(page, day_of(page.fetched_at))
    shown = (recognise(page.final_url), seen.board)
    if board := next((whole for each in shown if each and (whole := _askable(each))), None):
        return _Noted([Candidate(Method.PAGE, board, page.url)])
    found = _Noted(
        [Candidate(Method.PAGE, Board(FEED, None, url), page.final_url) for url in _feeds(body)],
        lists=_lists(seen),
    )
    if found.lists or _should_list(seen):
        found.candidates.append(Candidate(Method.PAGE, Board(SITE, None, page.final_url), page.final_url))
    else:
        found.tried.append(
            TriedAddress(
                LOOK,
                page.url,
                seen.look.verdict,
                page.status,
                reason=f"it shows no board: {seen.look.reason}",
            )
        )
    found.leads = [url for url in (seen.company.careers_url, *_leads(body)) if url]
    return found


def _leads(body: Body) -> Iterator[str]:
    """Links that speak of openings. The best of them may lead to the page it stands on, and the next to the
    board.
    """
    if body.format is Format.HTML:
        nodes = (node for node in body.document.root.css("a[href]")[:MAX_LINKS] if len(node.line) <= MAX_LINK)
        urls = (
            body.document.absolute(node.attribute("href") or "")
            for node in nodes
            if words("careers").names(node.line)
        )
        near = (
            url
            for url in dict.fromkeys(urls)
            if url and (is_one_site(url, body.page.final_url) or recognise(url))
        )
        yield from islice(near, MAX_LEADS)


def _askable(board: Board) -> Board | None:
    """A board that can be asked for its list. On a company's own domain it is the whole host, whichever page
    showed it.
    """
    if board.token is None and board.url:
        board = replace(board, url=f"{read_address(board.url).origin}/")
    return board if list_call(board) else None


def _lists(seen: Inspection) -> bool:
    return seen.kind is PageKind.LISTING and seen.look.verdict is Verdict.FOUND and bool(seen.postings)


def _should_list(seen: Inspection) -> bool:
    """A page that seems to be the list, and shows no rows to our rules. Somebody else may be able to read
    it.
    """
    return seen.look.verdict is Verdict.UNKNOWN and seen.kind not in (
        PageKind.SHELL,
        PageKind.WALL,
        PageKind.DETAIL,
    )


def _feeds(body: Body) -> Iterator[str]:
    """Feeds that a page offers. Most are of its articles; which one lists openings shows when it is read."""
    if body.format is Format.HTML:
        for node in body.document.root.css(_FEEDS)[:MAX_FEEDS]:
            if url := body.document.absolute(node.attribute("href") or ""):
                yield url


def _key(url: str) -> str | None:
    try:
        return canonical_url(url)
    except InvalidUrl:
        return None

"""Discovery: from a URL or a company's name to the board that lists its openings, tried and proven to be its
own.

    discover   candidates: the URL itself, what the company's pages show, or, by name, a few guesses
    validate   the first call of a scrape, live postings, and the owner of the board
    probe_N    the same for one guess each, through the gate of its platform

A certain result is enrolled at once. Everything else waits for a person, with all that was tried. Nothing is
called found or absent without proof: what cannot be reached now is asked again later, and a guessed name that
nobody answers to proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from thresher.apps.jobs.discovery.careers_page import Sighting, sight
from thresher.apps.jobs.discovery.enrolment import (
    AUTO,
    HTML,
    RSS,
    Asked,
    Find,
    asked_of,
    enrolled,
    excluded_board,
    joined,
    scrape,
    unfound,
    walled,
)
from thresher.apps.jobs.discovery.owner import owner_of
from thresher.apps.jobs.discovery.trial import (
    FEED,
    GONE,
    UNREACHED,
    Candidate,
    candidate_of,
    first_call,
    guesses,
    look_at,
)
from thresher.apps.jobs.filtering.exclusion import (
    GuardedFetch,
    StopList,
    excluded_company,
    refused,
    site_of,
    stop_list,
)
from thresher.apps.jobs.scraping.learned_rows import read_openings
from thresher.core.context import Context
from thresher.core.decide import ruling_for
from thresher.core.errors import (
    Blocked,
    ConfigError,
    Forbidden,
    Gone,
    InvalidPayload,
    InvalidUrl,
    Permanent,
    Transient,
    Unauthorized,
)
from thresher.core.event import NewEvent
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Failed, Next, Outcome, Skipped
from thresher.core.page import Verdict
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.stored import read, written
from thresher.hiring.kinds import BOARD
from thresher.hiring.ownership import Method, Strength, accepts
from thresher.hiring.records import SITE, BoardRecord, TriedAddress, board_key
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.platforms.platform import platform_named

# The state of a discovery: what is still to try and what was tried. It travels between stages as the
# checkpoint.

WALLS = (Blocked, Unauthorized, Forbidden, ConfigError)


@dataclass(slots=True)
class Search:
    """`named` are candidates that somebody or a page named. `doubtful` is the first guess that nothing speaks
    for or against, by number.
    """

    named: tuple[Candidate, ...] = ()
    guesses: tuple[Candidate, ...] = ()
    tried: list[TriedAddress] = field(default_factory=list)
    doubtful: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "named": [each.as_json() for each in self.named],
            "guesses": [each.as_json() for each in self.guesses],
            "tried": written(self.tried),
            "doubtful": self.doubtful,
        }

    def note(self, candidate: Candidate, url: str, problem: Exception) -> None:
        """A candidate that gave no answer to read."""
        ends = ((WALLS, Verdict.BLOCKED), (Gone, GONE), (Transient, UNREACHED))
        verdict = next((end for kind, end in ends if isinstance(problem, kind)), Verdict.UNKNOWN)
        self.tried.append(TriedAddress(candidate.method, url, verdict, reason=str(problem)))

    def says(self) -> str:
        """That nothing was found, and where it was looked for. It does not say that there is nothing."""
        pages = [f"{each.url}: {each.reason}" for each in self.tried if each.method != Method.GUESS]
        guessed = [each for each in self.tried if each.method == Method.GUESS]
        silent = sum(each.verdict in (Verdict.BLOCKED, UNREACHED) for each in guessed)
        counts = (
            (f"{len(guessed)} guessed boards do not exist", f"{silent} of them did not answer")
            if guessed
            else ()
        )
        return "; ".join(("no board was found", *pages[:4], *(counts if silent else counts[:1])))

    @property
    def is_open(self) -> bool:
        """Whether somebody should look at it again: a page or a board that was named was not read, or a guess
        was not answered.
        """
        unread = (Verdict.BLOCKED, UNREACHED)
        return any(
            each.verdict in (unread if each.method == Method.GUESS else (*unread, Verdict.UNKNOWN))
            for each in self.tried
        )


def search_of(data: Mapping[str, Any]) -> Search:
    """The way back from JSON."""
    return Search(
        tuple(map(candidate_of, data["named"])),
        tuple(map(candidate_of, data["guesses"])),
        [read(TriedAddress, each) for each in data["tried"]],
        data["doubtful"],
    )


KIND = "source_discovery"
MAX_PROBES = 30
# Retries for a guessed board that is down. Then the search goes on without it, and says so.
PATIENCE = 2


async def discover(ctx: Context) -> Outcome:
    """Which boards it could be, the likeliest first."""
    try:
        asked = await asked_of(ctx)
    except InvalidPayload as problem:
        return Failed(str(problem))
    hand = GuardedFetch(ctx, await stop_list(ctx))
    if outcome := _refused(ctx, hand.stops, asked):
        return outcome
    pages, max_age = int(ctx.setting("jobs.discovery.pages")), float(ctx.setting("jobs.discovery.max_age"))
    named = _by_address(asked)
    seen = Sighting() if named else await sight(hand, _starts(asked), most=pages, max_age=max_age)
    named = named or tuple(each for each in seen.ordered() if _fits(each, asked))
    # A company that lists its openings itself needs no guess: whoever has a board under its name is somebody
    # else.
    probes = 0 if seen.lists or asked.hint in (RSS, HTML) else int(ctx.setting("jobs.discovery.probes"))
    search = Search(named, _guesses(asked, probes), seen.tried)
    if search.named or search.guesses:
        return Next(checkpoint=search.as_json(), events=tuple(hand.events))
    if seen.wall is None:
        return _nothing(asked, search)
    if asked.url is None:
        # the company's own site is closed: the task waits before its gate, where a person sees it
        raise seen.wall
    return _disabled(ctx, Candidate(Method.URL, Board(SITE, None, asked.url)), asked, seen.wall, search)


async def validate(ctx: Context) -> Outcome:
    """The first of the named candidates that holds."""
    asked, search = await asked_of(ctx), search_of(ctx.task.checkpoint)
    hand = GuardedFetch(ctx, await stop_list(ctx))
    if outcome := _refused(ctx, hand.stops, asked):
        return outcome
    return hand.told(await _first_named(ctx, hand, asked, search))


async def _first_named(ctx: Context, hand: GuardedFetch, asked: Asked, search: Search) -> Outcome:
    for candidate in search.named:
        found = await _attempt(ctx, hand, candidate, asked, search)
        if found is not None:
            return _settled(ctx, found, asked, search) if isinstance(found, Find) else found
    return Next(checkpoint=search.as_json()) if search.guesses else _nothing(asked, search)


async def probe(ctx: Context) -> Outcome:
    """One guess. The first that is proven is taken; of the others, at the end, the first that nothing speaks
    against.
    """
    asked, search = await asked_of(ctx), search_of(ctx.task.checkpoint)
    hand = GuardedFetch(ctx, await stop_list(ctx))
    if outcome := _refused(ctx, hand.stops, asked):
        return outcome
    return hand.told(await _guessed(ctx, hand, asked, search))


async def _guessed(ctx: Context, hand: GuardedFetch, asked: Asked, search: Search) -> Outcome:
    number = int(ctx.task.stage.rpartition("_")[2])
    found = await _attempt(ctx, hand, search.guesses[number], asked, search)
    if isinstance(found, Find):
        if found.owner.proof.strength is not Strength.NONE:
            return _settled(ctx, found, asked, search)
        search.doubtful = number if search.doubtful is None else search.doubtful
    elif found is not None:
        return found
    if number + 1 < len(search.guesses):
        return Next(checkpoint=search.as_json())
    again = (
        await _attempt(ctx, hand, search.guesses[search.doubtful], asked, Search())
        if search.doubtful is not None
        else None
    )
    return _settled(ctx, again, asked, search) if isinstance(again, Find) else _nothing(asked, search)


def _refused(ctx: Context, stops: StopList, asked: Asked) -> Outcome | None:
    """The end of a search for the board of an excluded company, or at an excluded address."""
    if reason := stops.excludes((asked.name,), (site_of(asked.company), asked.website)):
        key = asked.company
        records = (excluded_company(key, reason, asked.name, asked.website),) if key else ()
        return refused(
            reason, *records, *excluded_board(asked, reason, ctx.now()), company=key, url=asked.url
        )
    if reason := stops.excludes((), (asked.url,)):
        return refused(reason, *excluded_board(asked, reason, ctx.now()), url=asked.url)
    return None


async def _attempt(
    ctx: Context, hand: GuardedFetch, candidate: Candidate, asked: Asked, search: Search
) -> Find | Outcome | None:
    """Try a candidate and note what came of it: a find, an end of the whole search, or nothing."""
    found = await ctx.record(BOARD, board_key(candidate.board))
    known = BoardRecord.of(found) if found else None
    if known and _is_settled(known, candidate, asked):
        return Skipped(f"{known.key} is already known ({known.status})", records=(joined(asked, known),))
    try:
        find, row = await _examined(ctx, hand, candidate, asked, known)
    except (*WALLS, Permanent, Transient) as problem:
        patient = candidate.method is not Method.GUESS or ctx.task.failures < PATIENCE
        if isinstance(problem, Transient) and patient:
            raise
        call = first_call(candidate.board)
        search.note(candidate, call.url if call else candidate.board.url, problem)
        stops = isinstance(problem, WALLS) and candidate.method is not Method.GUESS
        return _disabled(ctx, candidate, asked, problem, search) if stops else None
    search.tried.append(row)
    return find


async def _examined(
    ctx: Context, hand: GuardedFetch, candidate: Candidate, asked: Asked, known: BoardRecord | None
) -> tuple[Find | None, TriedAddress]:
    """Does it answer, has it openings, whose is it."""
    max_age = float(ctx.setting("jobs.discovery.max_age"))
    seen = await look_at(hand, candidate.board, max_age=max_age, read_more=partial(read_openings, ctx))
    row = TriedAddress(
        candidate.method, seen.url or candidate.board.url, seen.look.verdict, seen.status, seen.count
    )
    if not seen.look.verdict.is_proof or (candidate.board.platform in (SITE, FEED) and not seen.postings):
        return None, replace(row, reason=seen.look.reason)
    if candidate.board.platform == FEED and seen.is_page:
        return None, replace(row, reason="it is a page, not a feed")
    owner = await owner_of(hand, candidate, seen, asked.wanted(candidate.page), max_age=max_age)
    row = replace(row, name=owner.name)
    if not accepts(candidate.method, owner.proof):
        return None, replace(row, reason=owner.proof.sentence)
    if known and known.company != asked.company and not _may_join(candidate, owner.proof.strength):
        whose = known.company or "nobody yet"
        return None, replace(
            row, reason=f"it is already known as the board of {whose}, and {owner.proof.sentence}"
        )
    return Find(candidate, seen, owner, known), row


def _by_address(asked: Asked) -> tuple[Candidate, ...]:
    """What the address says without a look at it; nothing where a look is needed."""
    platform = platform_named(asked.hint)
    if platform is not None and platform.is_one_board and platform.endpoint is not None:
        return (Candidate(Method.URL, Board(platform.name, None, platform.endpoint.url), asked.page),)
    if asked.url is None:
        return ()
    if asked.hint in (RSS, HTML):
        return (
            Candidate(Method.URL, Board(FEED if asked.hint == RSS else SITE, None, asked.url), asked.page),
        )
    board = recognise(asked.url)
    return (Candidate(Method.URL, board, asked.page),) if board and list_call(board) else ()


def _starts(asked: Asked) -> list[str]:
    """The pages to begin with. Whoever gave an address meant that one; else what is known of the company, its
    careers page first.
    """
    return [asked.url] if asked.url else [url for url in (asked.careers_url, asked.website) if url]


def _fits(candidate: Candidate, asked: Asked) -> bool:
    """Tell whether a candidate is what the request says it is."""
    return asked.hint == AUTO or candidate.board.platform == {RSS: FEED, HTML: SITE}.get(
        asked.hint, asked.hint
    )


def _guesses(asked: Asked, most: int) -> tuple[Candidate, ...]:
    found = guesses(asked.name, asked.website, min(most, MAX_PROBES))
    return tuple(each for each in found if asked.hint in (AUTO, each.board.platform))


def _is_settled(known: BoardRecord, candidate: Candidate, asked: Asked) -> bool:
    """A board that is there needs no second discovery, unless it came by a guess and is now named, or it may
    be another's.
    """
    return asked.company in (None, known.company) and not _improves(known, candidate)


def _improves(known: BoardRecord, candidate: Candidate) -> bool:
    """A better discovery of a board that waits, or the first of one that was excluded before."""
    if known.confidence is None:
        return True
    guessed = known.status == "pending" and known.method == Method.GUESS
    return guessed and candidate.method is not Method.GUESS


def _may_join(candidate: Candidate, strength: Strength) -> bool:
    """Whether a board that is there may become another company's, too. A name that both have is not enough
    for a guess.
    """
    return strength is Strength.PROVEN or (
        strength is Strength.LIKELY and candidate.method is not Method.GUESS
    )


def _settled(ctx: Context, find: Find, asked: Asked, search: Search) -> Outcome:
    proof = find.owner.proof.sentence
    if find.known and not _improves(find.known, find.candidate):
        return Skipped(f"{find.key} is already known; {proof}", records=(joined(asked, find.known),))
    stands = find.standing(asked)
    said = f"{find.key} ({stands.confidence} confidence, {stands.status}): {find.seen.look.reason}; {proof}"
    return Done(said, records=enrolled(find, asked, search.tried, ctx.now()), children=scrape(find, asked))


def _disabled(
    ctx: Context, candidate: Candidate, asked: Asked, problem: Exception, search: Search
) -> Outcome:
    tag = ruling_for(problem).tag or ("auth" if isinstance(problem, ConfigError) else "forbidden")
    record = walled(candidate, asked, tag, str(problem), search.tried, ctx.now())
    event = NewEvent("board_disabled", {"board": record.key, "tag": tag, "reason": str(problem)}, warns=True)
    return Failed(f"blocked: {problem}", records=(record,), events=(event,))


def _nothing(asked: Asked, search: Search) -> Outcome:
    """End without a board. If a URL was given, or a question is still open, this is a failure to look at."""
    records, reason = unfound(asked, search.tried), search.says()
    if asked.is_partial:
        reason += "; open the address in a browser, and add the address of the list that it shows"
    if asked.url or search.is_open:
        return Failed(reason, records=records)
    return Skipped(reason, records=records)


def _through_page(trip: Trip) -> tuple[str, ...]:
    return _gate(trip.url or trip.payload.get("url") or trip.payload.get("website"))


def _through_board(trip: Trip, *, of: str, number: int = 0) -> tuple[str, ...]:
    """The host that is asked first; others are passed as they come."""
    search = search_of(trip.checkpoint)
    candidates = search.named if of == "named" else search.guesses
    call = first_call(candidates[number].board) if number < len(candidates) else None
    return _gate(call.url if call else None)


def _gate(url: object) -> tuple[str, ...]:
    try:
        return (host_gate(url),) if isinstance(url, str) and url else ()
    except InvalidUrl:
        return ()


discovery = Pipeline(
    KIND,
    Stage(discover, through=_through_page),
    Stage(validate, through=partial(_through_board, of="named")),
    *(
        Stage(probe, through=partial(_through_board, of="guesses", number=each), name=f"probe_{each}")
        for each in range(MAX_PROBES)
    ),
)

"""The company pipeline: from a name or a site to a company's facts, its tier, and its board.

    begin     store the company at once, unless it is known and fresh, or has no known site
    fetch     a few pages of its site
    extract   facts from structured data, labels, headings and sentences; a model only for the rest
    analyze   technologies, office, points, tier and completeness; enqueue the discovery of its board

Each stage passes its results on in the checkpoint; pages and the dossier are stored by content hash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thresher.apps.jobs.company.verdict import (
    FoundCount,
    FoundFact,
    SeenBoard,
    SeenOpenings,
    thresholds,
    verdict,
)
from thresher.apps.jobs.filtering.exclusion import (
    GuardedFetch,
    StopList,
    excluded_company,
    refused,
    site_of,
    stop_list,
)
from thresher.core.answer import ModelAnswer
from thresher.core.clock import DAY, day_of
from thresher.core.context import Context
from thresher.core.errors import (
    Blocked,
    BudgetExhausted,
    InvalidPayload,
    InvalidUrl,
    Permanent,
    TaskError,
    Transient,
    Unauthorized,
)
from thresher.core.evidence import Material
from thresher.core.keys import canonical_url, host_gate
from thresher.core.outcome import Done, Failed, Finds, Next, Outcome, Skipped
from thresher.core.page import Page
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Is, Record
from thresher.core.schema import Field, Kind, Schema
from thresher.core.settlement import Error
from thresher.core.stored import written
from thresher.core.task import NewTask, Task
from thresher.hiring.company.dossier import Dossier, DossierPage, dossier
from thresher.hiring.company.facts import is_fresh, own_name, read_facts
from thresher.hiring.company.focus import ai_focus, remote_first
from thresher.hiring.company.headcount import Headcount
from thresher.hiring.company.pages import CAREERS, HOME, ORDER, Openings, candidates, named, openings
from thresher.hiring.finding import Finding
from thresher.hiring.kinds import COMPANY
from thresher.hiring.records import (
    CompanyFields,
    CompanyRecord,
    company_entry,
    company_key,
    company_name_key,
)
from thresher.reading.html.document import Document
from thresher.reading.inspect.company import read_company
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.structured.facts import Facts

# The model is asked only for what rules did not find, and its failure never fails the task.

# characters of the dossier that are shown; what describes the company itself comes first
MAX_TEXT = 20_000
MAX_LENGTH = 2_000  # characters of one value
_FIELDS: Mapping[str, Field] = {
    "about": Field("about", says="What the company is and does, in its own words: one paragraph, copied."),
    "culture": Field("culture", says="What it says about its culture and values: one paragraph, copied."),
    "mission": Field("mission", says="Its mission, in its own words: one sentence, copied."),
    "size": Field("size", says="How many people work there, as it is written: 240, 51-200, 1,000+."),
    "headquarters": Field(
        "headquarters",
        says="The city of its headquarters, with region and country as far as they are written.",
    ),
    "industry": Field("industry", says="Its industry, in the page's own words."),
    "founded": Field("founded", Kind.INTEGER, says="The year in which it was founded."),
}


async def ask_for(ctx: Context, missing: tuple[str, ...], text: str, source: str) -> ModelAnswer | None:
    """Ask a model about the dossier; None if no model can be asked, or it gave no answer."""
    wanted = tuple(_FIELDS[name] for name in missing if name in _FIELDS)
    if not wanted or not ctx.setting("jobs.company.ask") or not await ctx.can_ask("cheap"):
        return None
    schema = Schema("company", wanted)
    try:
        return await ctx.ask(
            "extract", schema, {"page": Material(text[:MAX_TEXT], hash=source)}, tier="cheap"
        )
    except (BudgetExhausted, Permanent):
        # A company without these is a company all the same; waiting for money would hold up its board.
        return None


def values_of(answer: ModelAnswer | None) -> dict[str, FoundFact]:
    """The values that it gives, with their places."""
    if answer is None or not isinstance(answer.value, Mapping):
        return {}
    found: dict[str, FoundFact] = {}
    for name, value in answer.value.items():
        if name in _FIELDS and value not in (None, "", []):
            place = answer.evidence.places.get(name)
            start, end = (place.start, place.end) if place else (None, None)
            found[name] = FoundFact(value[:MAX_LENGTH] if isinstance(value, str) else value, start, end)
    return found


# The company of a task: from its payload, its URL, and the record if there is one.

MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Request:
    """`website` is the home page; `board` what was given in its place, where that is no site but a board.
    `known` is its record.
    """

    key: str
    name: str | None = None
    website: str | None = None
    board: Board | None = None
    via: str = "user"
    force: bool = False
    known: CompanyRecord | None = None


async def request_of(ctx: Context) -> Request:
    """The request of a task. Raises `InvalidPayload` for one that names no company."""
    said = ctx.task.payload
    name, given = _text(said.get("name")), _address(_text(said.get("website")) or ctx.task.url)
    board = recognise(given) if given else None
    website = None if board else given
    if not name and not website and not board:
        raise InvalidPayload("a company needs a name or a website; give one of them in the payload")
    known = await _known(ctx, name, website, board)
    website = website or (_address(_text(known.website)) if known else None)
    key = known.key if known else company_key(name or (board.token if board else None), website)
    return Request(
        key=key,
        name=name or (_text(known.name) if known else None),
        website=website,
        board=board,
        via=_text(said.get("via")) or "user",
        force=bool(said.get("force", False)),
        known=known,
    )


async def _known(
    ctx: Context, name: str | None, website: str | None, board: Board | None
) -> CompanyRecord | None:
    """The company's record: by its key, else the only one of that name that has a site."""
    kept = await ctx.record(COMPANY, company_key(name or (board.token if board else None), website))
    found = CompanyRecord.of(kept) if kept else None
    if website or not name or (found and found.website):
        return found
    named = await ctx.records(COMPANY, where=(Is("name_key", company_name_key(name)),), limit=3)
    alike = [each for each in map(CompanyRecord.of, named) if each.website]
    return alike[0] if len(alike) == 1 else found


def _text(value: Any) -> str | None:
    return " ".join(value.split())[:MAX_NAME] or None if isinstance(value, str) else None


def _address(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return canonical_url(text if "//" in text[:10] else f"https://{text}")
    except InvalidUrl as problem:
        raise InvalidPayload(f"website: {problem}") from None


# The pages of a company's site: the home page, the pages it links, and a few usual paths. Missing pages are
# normal.

MAX_BODY = 2_000_000  # bytes of one page that are read


@dataclass(slots=True)
class Visit:
    """The pages that came, by what they were read for; where the openings are said to be; and what stood in
    the way.
    """

    pages: list[tuple[str, Page]] = field(default_factory=list)
    careers: str | None = None
    trouble: str = ""
    left: int = 0
    seen: set[str] = field(default_factory=set)


async def visit(ctx: Context, hand: GuardedFetch, website: str) -> Visit:
    """Read a site. What asks for patience passes; a page that is not there is left out."""
    found = Visit(left=int(ctx.setting("jobs.company.pages")))
    names: dict[str, str] = {}
    if home := await _page(ctx, hand, found, HOME, website):
        names = await ctx.compute(_named, home)
    tried: set[str] = set()
    # A page about the company may name what the home page does not, so each role is looked up when its turn
    # has come.
    for role in ("about", CAREERS, "culture", "mission"):
        for each, urls in candidates(website, names):
            if each == role and role not in tried:
                tried.add(role)
                page = await _first(ctx, hand, found, role, urls)
                if page is not None and role == "about":
                    names = {**await ctx.compute(_named, page), **names}
    found.careers = names.get(CAREERS)
    found.pages.sort(key=lambda each: ORDER.index(each[0]))
    return found


async def _first(
    ctx: Context, hand: GuardedFetch, found: Visit, role: str, urls: tuple[str, ...]
) -> Page | None:
    for url in urls:
        if page := await _page(ctx, hand, found, role, url):
            return page
    return None


async def _page(ctx: Context, hand: GuardedFetch, found: Visit, role: str, url: str) -> Page | None:
    """One page, unless it is not there, or is one that we have under another name."""
    if found.left <= 0 or url in found.seen:
        return None
    found.left -= 1
    found.seen.add(url)
    try:
        page = await hand.fetch(url, render=None, max_age=float(ctx.setting("jobs.company.page_age")))
    except (Permanent, Blocked, Unauthorized, Transient) as problem:
        if _matters(problem, role, ctx.task.failures):
            raise
        found.trouble = found.trouble or f"{type(problem).__name__}: {problem}"
        return None
    if page.final_url in found.seen - {url} or not page.body.strip():
        return None
    found.seen.add(page.final_url)
    found.pages.append((role, page))
    return page


def _matters(problem: TaskError, role: str, failures: int) -> bool:
    """Whether the whole walk has to wait. A page that is not there never matters; trouble does on the home
    page, and elsewhere once.
    """
    if isinstance(problem, Permanent):
        return False
    return role == HOME or (isinstance(problem, Transient) and not failures)


def _named(page: Page) -> dict[str, str]:
    return named(Document.of(Page(page.url, page.final_url, page.status, page.headers, page.body[:MAX_BODY])))


KIND = "company"
DISCOVERY = "source_discovery"


async def begin(ctx: Context) -> Outcome:
    """Store the company, so that other tasks find it."""
    try:
        request = await request_of(ctx)
    except InvalidPayload as problem:
        return Failed(str(problem))
    known = request.known or CompanyRecord(request.key)
    if reason := _excluded(await stop_list(ctx), request):
        record = excluded_company(request.key, reason, request.name, request.website)
        return refused(reason, record, company=request.key)
    if not request.force and is_fresh(known, thresholds(ctx.setting), ctx.now()):
        days = (ctx.now() - known.analyzed_at) // DAY
        return Skipped(
            f"{request.key} is complete and was analysed {days} days ago; use force to read it again"
        )
    if request.website is None:
        return _without_site(request)
    status = known.status or ""
    checkpoint = {"key": request.key, "name": request.name, "website": request.website, "had": status}
    return Next(checkpoint=checkpoint, records=(_begun(request, status),))


async def fetch(ctx: Context) -> Outcome:
    """Read the pages that speak of the company."""
    said = ctx.task.checkpoint
    hand = GuardedFetch(ctx, await stop_list(ctx))
    # It may have waited for its host, and the profile may have changed meanwhile.
    if outcome := _refused(hand.stops, said):
        return outcome
    found = await visit(ctx, hand, str(said["website"]))
    if not found.pages:
        reason = f"no page of {said['website']} could be read: {found.trouble}"
        return Failed(reason, records=(_failed(said, reason),), events=tuple(hand.events))
    pages = [
        {
            "role": role,
            "url": page.final_url,
            "type": page.headers.get("content-type", ""),
            "hash": await ctx.save(page.body[:MAX_BODY]),
        }
        for role, page in found.pages
    ]
    return Next(checkpoint={**said, "pages": pages, "careers": found.careers}, events=tuple(hand.events))


async def extract(ctx: Context) -> Outcome:
    """Read what the pages say; a model is asked for the rest."""
    said = ctx.task.checkpoint
    bodies = [await ctx.load(page["hash"]) for page in said["pages"]]
    mentions = int(ctx.setting("jobs.company.ai_mentions"))
    read = await ctx.compute(
        _read, said["pages"], bodies, said["name"], said.get("careers"), day_of(ctx.now()).year, mentions
    )
    source = await ctx.save(read.text.encode("utf-8", "replace"))
    answer = await ask_for(ctx, read.missing, read.text, source)
    facts = {**values_of(answer), **read.values}
    kept = {each: said[each] for each in ("key", "website", "had")}
    found = {"name": read.name, "source": source, "facts": facts, "openings": read.openings}
    return Next(checkpoint={**kept, **written(found)})


class _Read(NamedTuple):
    """What the pages of a company say; `missing` are the fields that rules did not find."""

    text: str
    name: str | None
    missing: tuple[str, ...]
    values: dict[str, FoundFact]
    openings: SeenOpenings


def _read(
    pages: Sequence[Mapping[str, Any]],
    bodies: Sequence[bytes],
    name: str | None,
    careers: str | None,
    year: int,
    mentions: int,
) -> _Read:
    leaves = [
        DossierPage(page["role"], _document(page, body)) for page, body in zip(pages, bodies, strict=True)
    ]
    text = dossier(leaves)
    name = name or _name(leaves, text)
    facts = read_facts(text, name=name or "", year=year)
    focus = {
        "remote_first": remote_first(text),
        "ai_focus": ai_focus(
            text, about=facts.found.get("about"), mission=facts.found.get("mission"), mentions=mentions
        ),
    }
    values = {
        field: _kept(each) for field, each in (*facts.found.items(), *focus.items()) if each is not None
    }
    return _Read(text.text, name, facts.missing, values, _seen(openings(leaves, careers)))


async def analyze(ctx: Context) -> Outcome:
    """Judge it, and hand its board on. Only its pages may have said what it is called."""
    if outcome := _refused(await stop_list(ctx), ctx.task.checkpoint):
        return outcome
    found = await verdict(ctx)
    if found.insufficient:
        return Skipped(found.insufficient, records=found.records, children=found.children)
    return Done(found.note, records=found.records, children=found.children)


def _excluded(stops: StopList, request: Request) -> str | None:
    known = stops.excludes_company(request.known) if request.known else None
    board = request.board.url if request.board else None
    return known or stops.excludes((request.name,), (site_of(request.key), request.website, board))


def _refused(stops: StopList, said: Mapping[str, Any]) -> Outcome | None:
    """The end of a task whose company is excluded by now."""
    key, name, website = str(said["key"]), said.get("name"), said.get("website")
    reason = stops.excludes((name,), (site_of(key), website))
    return refused(reason, excluded_company(key, reason, name, website), company=key) if reason else None


def on_failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    """A company whose site could not be read says so. One that was read before keeps what is known."""
    del settings
    said = task.checkpoint
    return Finds(records=(_failed(said, error.message),)) if said.get("key") else Finds()


def _without_site(request: Request) -> Outcome:
    """No site to read; where a board was given instead, that is looked at."""
    data: CompanyFields = {
        "status": "unknown_site",
        "name": request.name or request.key,
        "name_key": company_name_key(request.name or request.key),
    }
    children: tuple[NewTask, ...] = ()
    if request.board:
        payload = {"url": request.board.url, "company": request.key, "name": request.name, "via": KIND}
        children = (NewTask(DISCOVERY, payload, url=request.board.url),)
    reason = f"{request.key}: its website is not known; add the company with its website"
    return Skipped(reason, records=(company_entry(request.key, data),), children=children)


def _begun(request: Request, status: str) -> Record:
    data: CompanyFields = {"website": request.website, "excluded": None}
    if request.name:
        data |= {"name": request.name, "name_key": company_name_key(request.name)}
    # What was known before stays what it is until something better is known.
    if status != "complete":
        data["status"] = "analyzing"
    return company_entry(request.key, data)


def _failed(said: Mapping[str, Any], reason: str) -> Record:
    status = said["had"] if said.get("had") == "complete" else "failed"
    return company_entry(str(said["key"]), {"status": status, "problem": reason[:500]})


def _document(page: Mapping[str, Any], body: bytes) -> Document:
    return Document.of(Page(page["url"], page["url"], 200, {"content-type": page["type"]}, body))


def _name(leaves: list[DossierPage], text: Dossier) -> str | None:
    """What the site calls the company, its home page first; else what any of its pages declares, else what
    its address says.
    """
    for leaf in sorted(leaves, key=lambda leaf: leaf.role != HOME):
        facts = Facts(leaf.document)
        things = [(thing.type, thing.properties) for thing in facts.structured.things]
        if name := read_company(leaf.document, things, facts.meta).name:
            return " ".join(name.split())[:MAX_NAME]
    if found := own_name(text):
        return found.value
    return company_key(None, leaves[0].document.url).removeprefix("www.").partition(".")[0] or None


def _kept(finding: Finding[Any]) -> FoundFact:
    """A value as the checkpoint keeps it."""
    value, start, end = finding.value, finding.start, finding.end
    if isinstance(value, Headcount):
        return FoundCount(value.text, start, end, value.low, value.high)
    return FoundFact(value, start, end)


def _seen(found: Openings) -> SeenOpenings:
    board = found.board
    return SeenOpenings(
        found.url,
        found.confidence,
        found.page,
        found.careers_url,
        found.unread,
        SeenBoard(board.platform, board.token, board.url, board.parts) if board else None,
    )


def _gates(trip: Trip) -> tuple[str, ...]:
    try:
        return (host_gate(str(trip.checkpoint["website"])),)
    except (InvalidUrl, KeyError):
        return ()


company = Pipeline(
    KIND,
    Stage(begin),
    Stage(fetch, through=_gates),
    Stage(extract),
    Stage(analyze),
    failed=on_failed,
)

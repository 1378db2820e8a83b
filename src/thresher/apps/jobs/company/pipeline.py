"""The company pipeline: from a name or a site to what is known of a company, what it is worth, and where its
openings are.

    begin     write it down at once, unless it is known well and freshly, or no site is known
    fetch     a few pages of its site, politely
    extract   what they say: data made for machines, labels, headings and sentences; a model only for the rest
    analyze   technologies, the office, points, tier and completeness; the board goes on to its own discovery

Each stage hands on what it found in the checkpoint; pages and the dossier are kept by their content.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from thresher.apps.jobs.company.model import ask_for, values_of
from thresher.apps.jobs.company.numbers import thresholds
from thresher.apps.jobs.company.request import MAX_NAME, Request, request_of
from thresher.apps.jobs.company.site import MAX_BODY, visit
from thresher.apps.jobs.company.verdict import verdict
from thresher.apps.jobs.moment import day
from thresher.core.context import Context
from thresher.core.errors import InvalidPayload, InvalidUrl
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Failed, Finds, Next, Outcome, Skipped
from thresher.core.page import Page
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Record
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task
from thresher.hiring.company.completeness import is_fresh
from thresher.hiring.company.dossier import Dossier, Leaf, dossier
from thresher.hiring.company.facts import own_name, read_facts
from thresher.hiring.company.focus import ai_focus, remote_first
from thresher.hiring.company.headcount import Headcount
from thresher.hiring.company.openings import Openings, openings
from thresher.hiring.company.pages import HOME
from thresher.hiring.finding import Finding
from thresher.hiring.kinds import COMPANY
from thresher.hiring.records import company_key, company_name_key, entry
from thresher.reading.html.document import Document
from thresher.reading.inspect.company import read_company
from thresher.reading.structured.facts import Facts

KIND = "company"
DISCOVERY = "source_discovery"
SECOND = 1_000_000


async def begin(ctx: Context) -> Outcome:
    """Write the company down, so that whoever meets it next finds it."""
    try:
        request = await request_of(ctx)
    except InvalidPayload as problem:
        return Failed(str(problem))
    known = request.known.data if request.known else {}
    if not request.force and is_fresh(known, thresholds(ctx.setting), ctx.now()):
        days = (ctx.now() - int(known["analyzed_at"])) // (86_400 * SECOND)
        return Skipped(f"{request.key} is known well and was analysed {days} days ago; force reads it again")
    if request.website is None:
        return _without_site(request)
    status = str(known.get("status") or "")
    checkpoint = {"key": request.key, "name": request.name, "website": request.website, "had": status}
    return Next(checkpoint=checkpoint, records=(_begun(request, status),))


async def fetch(ctx: Context) -> Outcome:
    """Read the pages that speak of the company."""
    said = ctx.task.checkpoint
    found = await visit(ctx, str(said["website"]))
    if not found.pages:
        reason = f"no page of {said['website']} could be read: {found.trouble}"
        return Failed(reason, records=(_failed(said, reason),))
    pages = [
        {
            "role": role,
            "url": page.final_url,
            "type": page.headers.get("content-type", ""),
            "hash": await ctx.save(page.body[:MAX_BODY]),
        }
        for role, page in found.pages
    ]
    return Next(checkpoint={**said, "pages": pages, "careers": found.careers})


async def extract(ctx: Context) -> Outcome:
    """Read what the pages say; a model is asked for the rest."""
    said = ctx.task.checkpoint
    bodies = [await ctx.load(page["hash"]) for page in said["pages"]]
    mentions = int(ctx.setting("jobs.company.ai_mentions"))
    read = await ctx.compute(
        _read, said["pages"], bodies, said["name"], said.get("careers"), day(ctx.now()).year, mentions
    )
    source = await ctx.save(read.text.encode("utf-8", "replace"))
    answer = await ask_for(ctx, read.missing, read.text, source)
    facts = {**values_of(answer), **read.values}
    kept = {each: said[each] for each in ("key", "website", "had")}
    return Next(
        checkpoint={**kept, "name": read.name, "source": source, "facts": facts, "openings": read.openings}
    )


class _Read(NamedTuple):
    """What the pages of a company say; `missing` are the fields that rules did not find."""

    text: str
    name: str | None
    missing: tuple[str, ...]
    values: dict[str, dict[str, Any]]
    openings: dict[str, Any]


def _read(
    pages: Sequence[Mapping[str, Any]],
    bodies: Sequence[bytes],
    name: str | None,
    careers: str | None,
    year: int,
    mentions: int,
) -> _Read:
    leaves = [Leaf(page["role"], _document(page, body)) for page, body in zip(pages, bodies, strict=True)]
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
    """Judge it, and hand its board on."""
    found = await verdict(ctx)
    if found.insufficient:
        return Skipped(found.insufficient, records=found.records, children=found.children)
    return Done(found.note, records=found.records, children=found.children)


def on_failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    """A company whose site could not be read says so. One that was read before keeps what is known."""
    del settings
    said = task.checkpoint
    return Finds(records=(_failed(said, error.message),)) if said.get("key") else Finds()


def _without_site(request: Request) -> Outcome:
    """No site to read; where a board was given instead, that is looked at."""
    data = {
        "status": "unknown_site",
        "name": request.name or request.key,
        "name_key": company_name_key(request.name or request.key),
    }
    children: tuple[NewTask, ...] = ()
    if request.board:
        payload = {"url": request.board.url, "company": request.key, "name": request.name, "via": KIND}
        children = (NewTask(DISCOVERY, payload, url=request.board.url),)
    reason = f"{request.key}: no website is known; add it with its address"
    return Skipped(reason, records=(entry(COMPANY, request.key, data),), children=children)


def _begun(request: Request, status: str) -> Record:
    data: dict[str, Any] = {"website": request.website}
    if request.name:
        data |= {"name": request.name, "name_key": company_name_key(request.name)}
    # What was known before stays what it is until something better is known.
    if status != "complete":
        data["status"] = "analyzing"
    return entry(COMPANY, request.key, data)


def _failed(said: Mapping[str, Any], reason: str) -> Record:
    status = said["had"] if said.get("had") == "complete" else "failed"
    return entry(COMPANY, str(said["key"]), {"status": status, "problem": reason[:500]})


def _document(page: Mapping[str, Any], body: bytes) -> Document:
    return Document.of(Page(page["url"], page["url"], 200, {"content-type": page["type"]}, body))


def _name(leaves: list[Leaf], text: Dossier) -> str | None:
    """What the home page calls the company, else what any of its pages declares, else what its address
    says.
    """
    for leaf in leaves:
        if leaf.role == HOME:
            facts = Facts(leaf.document)
            things = [(thing.type, thing.properties) for thing in facts.structured.things]
            if name := read_company(leaf.document, things, facts.meta).name:
                return " ".join(name.split())[:MAX_NAME]
    if found := own_name(text):
        return found.value
    return company_key(None, leaves[0].document.url).removeprefix("www.").partition(".")[0] or None


def _kept(finding: Finding[Any]) -> dict[str, Any]:
    """A value as the checkpoint keeps it."""
    value = finding.value
    if isinstance(value, Headcount):
        return {
            "value": value.text,
            "start": finding.start,
            "end": finding.end,
            "low": value.low,
            "high": value.high,
        }
    return {"value": value, "start": finding.start, "end": finding.end}


def _seen(found: Openings) -> dict[str, Any]:
    board = found.board
    return {
        "url": found.url,
        "confidence": found.confidence,
        "page": found.page,
        "careers_url": found.careers_url,
        "unread": found.unread,
        "board": board
        and {"platform": board.platform, "token": board.token, "url": board.url, "parts": dict(board.parts)},
    }


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

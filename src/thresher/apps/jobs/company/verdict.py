"""The result of the company pipeline: the record with its evidence, its points, and what follows for its
board.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, cast

from thresher.apps.jobs.person.profile_record import readable_profile
from thresher.apps.jobs.person.wants import Profile
from thresher.core.context import Context
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Found, Link, Record
from thresher.core.stored import read
from thresher.core.task import NewTask
from thresher.hiring.company.facts import Completeness, Thresholds, completeness, size_category
from thresher.hiring.company.headcount import bare_count
from thresher.hiring.company.office import Town, office
from thresher.hiring.company.priority import CompanyFindings, CompanyPriority, PriorityPoints, priority
from thresher.hiring.finding import Finding
from thresher.hiring.kinds import BOARD, COMPANY
from thresher.hiring.mentions import Mention
from thresher.hiring.records import (
    BoardRecord,
    CompanyFields,
    CompanyRecord,
    board_entry,
    board_key,
    company_entry,
    company_name_key,
)
from thresher.hiring.technology import technologies
from thresher.reading.platforms.boards import Board, is_partial

# Settings of the company pipeline: each field is the setting of the same name after `jobs.company.`.

AREA = "jobs.company."
Setting = Callable[[str], Any]


def thresholds(setting: Setting) -> Thresholds:
    """What counts as known, and for how long."""
    return Thresholds(**{each.name: setting(AREA + each.name) for each in fields(Thresholds)})


def points(setting: Setting) -> PriorityPoints:
    """What each finding is worth, and from where on which tier begins."""
    return PriorityPoints(**{each.name: setting(AREA + each.name) for each in fields(PriorityPoints)})


DISCOVERY = "source_discovery"
VIA = "company"
AROUND = 60  # characters around a technology that are quoted
MAX_TECHNOLOGIES = 100
MAX_BOARDS = 50
_TEXTS = ("about", "culture", "mission", "headquarters", "industry", "founded")


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A value that the company's pages say, and where; `start` is None for one that stands nowhere in the
    text.
    """

    value: Any = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class FoundCount(FoundFact):
    """The same of a headcount; a size that is no number has neither `low` nor `high`."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class SeenBoard:
    """A board that a page links to."""

    platform: str = ""
    token: str | None = None
    url: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeenOpenings:
    """Where the pages say that the openings are. `unread`: that page could not be read."""

    url: str | None = None
    confidence: str | None = None
    page: str | None = None
    careers_url: str | None = None
    unread: bool = False
    board: SeenBoard | None = None


@dataclass(frozen=True, slots=True)
class Signs:
    """What a company says of how it works and what it builds, in the words of its pages."""

    remote_first: Finding[str] | None = None
    ai_focus: Finding[str] | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What the stages before this one found out, from their checkpoint. `source` is the stored text."""

    key: str = ""
    name: str | None = None
    website: str = ""
    source: str = ""
    facts: Mapping[str, FoundCount] = field(default_factory=dict)
    openings: SeenOpenings = SeenOpenings()

    @property
    def signs(self) -> Signs:
        return Signs(_finding(self.facts.get("remote_first")), _finding(self.facts.get("ai_focus")))


@dataclass(frozen=True, slots=True)
class Verdict:
    """`insufficient` says what is missing, where too little is known."""

    records: tuple[Record, ...]
    children: tuple[NewTask, ...]
    note: str
    insufficient: str = ""


async def verdict(ctx: Context) -> Verdict:
    """The verdict on what a task has found out."""
    said = read(Findings, ctx.task.checkpoint)
    text = (await ctx.load(said.source)).decode("utf-8", "replace")
    mentions = first_mentions(text)
    at = thresholds(ctx.setting)
    known = await ctx.record(COMPANY, said.key)
    data = _fields(said, CompanyRecord.of(known) if known else None, at)
    worth = worth_of(await readable_profile(ctx), points(ctx.setting), text, said.signs, mentions)
    enough = completeness(CompanyRecord(said.key, **data), at)
    data |= {
        "tech": tuple(each.name for each in mentions),
        "analyzed_at": ctx.now(),
        "tier": worth.tier,
        "score": worth.score,
        "score_parts": worth.parts,
        "completeness": str(enough),
        "status": "partial" if enough is Completeness.NONE else "complete",
        "problem": None,
    }
    record = company_entry(said.key, data, evidence=_evidence(said, data, text, mentions))
    boards = [board async for board in _boards_in_tier(ctx, said.key, worth.tier)]
    children = tuple([child async for child in _children(ctx, said)])
    note = f"{said.name or said.key}: {enough}, tier {worth.tier} ({worth.score} points)"
    missing = "" if enough is not Completeness.NONE else _missing(said.key, data, at)
    return Verdict((record, *boards), children, note, missing)


async def _boards_in_tier(ctx: Context, key: str, tier: str) -> AsyncIterator[Record]:
    """The company's boards that are still in another tier."""
    for each in map(BoardRecord.of, await ctx.records(BOARD, link=Link("company", key), limit=MAX_BOARDS)):
        if each.company == key and each.tier != tier:
            yield board_entry(each.key, {"tier": tier})


def _fields(said: Findings, known: CompanyRecord | None, at: Thresholds) -> CompanyFields:
    """The values of the record, as far as they were found. A page of its own does not replace a board that is
    known.
    """
    facts, seen = said.facts, said.openings
    texts = cast("CompanyFields", {name: facts[name].value for name in _TEXTS if name in facts})
    data: CompanyFields = {
        **texts,
        "website": said.website,
        "remote_first": "remote_first" in facts,
        "ai_focus": "ai_focus" in facts,
    }
    if said.name:
        data |= {"name": said.name, "name_key": company_name_key(said.name)}
    if "size" in facts:
        data |= _size(facts["size"], at)
    if seen.careers_url:
        data["careers_url"] = seen.careers_url
    if seen.url and (seen.confidence != "low" or not (known and known.board_url)):
        data |= {"board_url": seen.url, "board_confidence": seen.confidence}
    return data


def _size(fact: FoundCount, at: Thresholds) -> CompanyFields:
    """The size as it is written, and its category where it is a number."""
    text, low, high = str(fact.value), fact.low, fact.high
    if low is None:
        counted = bare_count(text)
        if counted is None:
            return {"size": text}
        low, high = counted.value.low, counted.value.high
    return {"size": text, "employees": low, "size_category": size_category(low, high, at)}


def worth_of(
    profile: Profile | None, points: PriorityPoints, text: str, signs: Signs, mentions: Sequence[Mention]
) -> CompanyPriority:
    """What a company is worth by this profile, from its stored text: no page is needed for it."""
    town = Town(profile.city, profile.region, profile.country) if profile and profile.city else None
    seen = CompanyFindings(
        office=office(_lines(text), town) if town else None,
        technologies=[(each.name, _around(text, each)) for each in mentions],
        remote_first=signs.remote_first,
        ai_focus=signs.ai_focus,
    )
    ranks = {name: str(skill.rank) for name, skill in profile.skills.items()} if profile else None
    return priority(seen, city=profile.city if profile else None, ranks=ranks, points=points)


def ranked_again(
    profile: Profile | None, points: PriorityPoints, known: Sequence[tuple[str, Signs]]
) -> list[CompanyPriority]:
    """The same for several companies, each by its text and the signs that were found in it."""
    return [worth_of(profile, points, text, signs, first_mentions(text)) for text, signs in known]


def stored_signs(found: Found) -> Signs:
    """The signs of a company that is stored, by the words that its evidence quotes."""
    company, places = CompanyRecord.of(found), found.evidence.places if found.evidence else {}

    def finding(name: str) -> Finding[str] | None:
        place = places.get(name)
        if not getattr(company, name):
            return None
        return Finding(place.quote, place.start or 0, place.end or 0) if place else Finding("", 0, 0)

    return Signs(finding("remote_first"), finding("ai_focus"))


async def _children(ctx: Context, said: Findings) -> AsyncIterator[NewTask]:
    """Return the next task: discovery of the board that was seen, which decides whether it needs approval, or
    else a search by name.
    """
    seen, key = said.openings, said.key
    payload = {"company": key, "name": said.name, "website": said.website, "via": VIA}
    if seen.url is None or seen.unread:
        if ctx.setting("jobs.guess_boards") and not await ctx.records(
            BOARD, link=Link("company", key), limit=1
        ):
            yield NewTask(DISCOVERY, payload, key=key)
    elif not await _is_known(ctx, key, seen):
        yield NewTask(DISCOVERY, payload | {"url": seen.url, "page": seen.page}, url=seen.url)


async def _is_known(ctx: Context, key: str, seen: SeenOpenings) -> bool:
    """Whether there is a record of this board, or one of the same platform for this company."""
    if (board := seen.board) is None:
        return await ctx.record(BOARD, f"site:{seen.url}") is not None or await _has(ctx, key, "rss")
    named = Board(board.platform, board.token, board.url, board.parts)
    if board.token is None or is_partial(named):
        return await _has(ctx, key, board.platform)
    return await ctx.record(BOARD, board_key(named)) is not None


async def _has(ctx: Context, key: str, platform: str) -> bool:
    return any(
        BoardRecord.of(each).platform == platform
        for each in await ctx.records(BOARD, link=Link("company", key), limit=20)
    )


def first_mentions(text: str) -> list[Mention]:
    """Each technology where it is first named."""
    found: dict[str, Mention] = {}
    for mention in technologies(text):
        found.setdefault(mention.name, mention)
    return list(found.values())[:MAX_TECHNOLOGIES]


def _around(text: str, mention: Mention) -> str:
    """The words around it, of its own line."""
    start, end = text.rfind("\n", 0, mention.start) + 1, text.find("\n", mention.end)
    line = text[
        max(start, mention.start - AROUND) : min(end if end >= 0 else len(text), mention.end + AROUND)
    ]
    return line.strip()


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a dossier, and where they begin."""
    at = 0
    for line in text.split("\n"):
        if line and not line.startswith("== "):
            yield line, at
        at += len(line) + 1


def _finding(kept: FoundFact | None) -> Finding[str] | None:
    return Finding(str(kept.value), kept.start or 0, kept.end or 0) if kept else None


def _evidence(said: Findings, data: CompanyFields, text: str, mentions: list[Mention]) -> Evidence:
    places: dict[str, Place | None] = {}
    for name, fact in said.facts.items():
        start, end = fact.start, fact.end
        places[name] = None if start is None or end is None else Place(text[start:end], start, end)
    if "employees" in data:
        places["employees"] = places["size"]
    for number, each in enumerate(mentions):
        places[f"tech.{number}"] = Place(text[each.start : each.end], each.start, each.end)
    return Evidence(places, said.source)


def _missing(key: str, data: CompanyFields, at: Thresholds) -> str:
    about, culture = len(data.get("about") or ""), len(data.get("culture") or "")
    return (
        f"{key}: the site says too little. Its about text has {about} characters (more than "
        f"{at.about_minimal} are needed), its culture text {culture} (more than {at.culture_minimal})"
        + ("" if data.get("name") else "; it does not give a name either")
    )

"""The result of the company pipeline: the record with its evidence, its points, and what follows for its
board.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from thresher.apps.jobs.person.profile_record import my_profile
from thresher.apps.jobs.person.wants import Profile
from thresher.core.context import Context
from thresher.core.errors import ConfigError
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Link, Record
from thresher.core.task import NewTask
from thresher.hiring.company.facts import Completeness, Thresholds, completeness, size_category
from thresher.hiring.company.headcount import bare_count
from thresher.hiring.company.office import Town, office
from thresher.hiring.company.priority import CompanyFindings, CompanyPriority, PriorityPoints, priority
from thresher.hiring.finding import Finding
from thresher.hiring.kinds import BOARD, COMPANY
from thresher.hiring.records import BoardRecord, CompanyRecord, board_key, company_name_key, entry
from thresher.hiring.technology import Mention, technologies
from thresher.reading.platforms.boards import Board

# Settings of the company pipeline: each field is the setting of the same name after `jobs.company.`.

AREA = "jobs.company."
Read = Callable[[str], Any]


def thresholds(read: Read) -> Thresholds:
    """What counts as known, and for how long."""
    return Thresholds(**{each.name: read(AREA + each.name) for each in fields(Thresholds)})


def points(read: Read) -> PriorityPoints:
    """What each finding is worth, and from where on which tier begins."""
    return PriorityPoints(**{each.name: read(AREA + each.name) for each in fields(PriorityPoints)})


DISCOVERY = "source_discovery"
VIA = "company"
AROUND = 60  # characters around a technology that are quoted
MAX_TECHNOLOGIES = 100
_TEXTS = ("about", "culture", "mission", "headquarters", "industry", "founded")
_YES = ("remote_first", "ai_focus")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`insufficient` says what is missing, where too little is known."""

    records: tuple[Record, ...]
    children: tuple[NewTask, ...]
    note: str
    insufficient: str = ""


async def verdict(ctx: Context) -> Verdict:
    """The verdict on what a task has found out."""
    said = ctx.task.checkpoint
    text = (await ctx.load(str(said["source"]))).decode("utf-8", "replace")
    mentions = _first_mentions(text)
    at = thresholds(ctx.setting)
    known = await ctx.record(COMPANY, str(said["key"]))
    data = _data(said, CompanyRecord.of(known) if known else None, at) | {
        "tech": [each.name for each in mentions],
        "analyzed_at": ctx.now(),
    }
    worth = await _worth(ctx, said, text, mentions)
    data |= {"tier": worth.tier, "score": worth.score, "score_parts": [_part(each) for each in worth.parts]}
    enough = completeness(data, at)
    data |= {
        "completeness": str(enough),
        "status": "partial" if enough is Completeness.NONE else "complete",
        "problem": None,
    }
    record = entry(COMPANY, str(said["key"]), data, evidence=_evidence(said, data, text, mentions))
    children = tuple([child async for child in _children(ctx, said)])
    note = f"{data.get('name') or said['key']}: {enough}, tier {worth.tier} ({worth.score} points)"
    missing = "" if enough is not Completeness.NONE else _missing(said, data, at)
    return Verdict((record,), children, note, missing)


def _data(said: Mapping[str, Any], known: CompanyRecord | None, at: Thresholds) -> dict[str, Any]:
    """The values of the record, as far as they were found. A page of its own does not replace a board that is
    known.
    """
    facts, seen = said["facts"], said["openings"]
    data: dict[str, Any] = {
        "website": said["website"],
        **{name: facts[name]["value"] for name in _TEXTS if name in facts},
    }
    if said.get("name"):
        data |= {"name": said["name"], "name_key": company_name_key(said["name"])}
    data |= {name: name in facts for name in _YES}
    if "size" in facts:
        data |= _size(facts["size"], at)
    if seen["careers_url"]:
        data["careers_url"] = seen["careers_url"]
    if seen["url"] and (seen["confidence"] != "low" or not (known and known.board_url)):
        data |= {"board_url": seen["url"], "board_confidence": seen["confidence"]}
    return data


def _size(fact: Mapping[str, Any], at: Thresholds) -> dict[str, Any]:
    """The size as it is written, and its category where it is a number."""
    text = str(fact["value"])
    if "low" not in fact:
        counted = bare_count(text)
        return (
            {"size": text}
            if counted is None
            else _size({"value": text, "low": counted.value.low, "high": counted.value.high}, at)
        )
    return {
        "size": text,
        "employees": fact["low"],
        "size_category": size_category(fact["low"], fact["high"], at),
    }


async def _worth(
    ctx: Context, said: Mapping[str, Any], text: str, mentions: list[Mention]
) -> CompanyPriority:
    profile = await _profile(ctx)
    town = Town(profile.city, profile.region, profile.country) if profile and profile.city else None
    facts = said["facts"]
    seen = CompanyFindings(
        office=office(_lines(text), town) if town else None,
        technologies=[(each.name, _around(text, each)) for each in mentions],
        remote_first=_finding(facts.get("remote_first")),
        ai_focus=_finding(facts.get("ai_focus")),
    )
    ranks = {name: str(skill.rank) for name, skill in profile.skills.items()} if profile else None
    return priority(seen, city=profile.city if profile else None, ranks=ranks, points=points(ctx.setting))


async def _profile(ctx: Context) -> Profile | None:
    """The person's profile; one that cannot be read is none here, and is complained about where it is
    written.
    """
    try:
        return await my_profile(ctx)
    except ConfigError:
        return None


async def _children(ctx: Context, said: Mapping[str, Any]) -> AsyncIterator[NewTask]:
    """A board that was seen goes on to its discovery, which says whether a person has to approve it; else it
    is looked for by name.
    """
    seen, key = said["openings"], str(said["key"])
    payload = {"company": key, "name": said["name"], "website": said["website"], "via": VIA}
    if seen["url"] is None or seen["unread"]:
        if ctx.setting("jobs.guess_boards") and not await ctx.records(
            BOARD, link=Link("company", key), limit=1
        ):
            yield NewTask(DISCOVERY, payload, key=key)
    elif not await _is_known(ctx, key, seen):
        yield NewTask(DISCOVERY, payload | {"url": seen["url"], "page": seen["page"]}, url=seen["url"])


async def _is_known(ctx: Context, key: str, seen: Mapping[str, Any]) -> bool:
    """Whether there is a record of this board, or one of the same platform for this company."""
    if (board := seen["board"]) is None:
        return await ctx.record(BOARD, f"site:{seen['url']}") is not None or await _has(ctx, key, "rss")
    if board["token"] is None:
        return await _has(ctx, key, board["platform"])
    return (
        await ctx.record(
            BOARD, board_key(Board(board["platform"], board["token"], board["url"], board["parts"]))
        )
        is not None
    )


async def _has(ctx: Context, key: str, platform: str) -> bool:
    return any(
        BoardRecord.of(each).platform == platform
        for each in await ctx.records(BOARD, link=Link("company", key), limit=20)
    )


def _first_mentions(text: str) -> list[Mention]:
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


def _finding(kept: Mapping[str, Any] | None) -> Finding[str] | None:
    return Finding(str(kept["value"]), kept["start"], kept["end"]) if kept else None


def _part(part: Any) -> dict[str, Any]:
    said = {"rule": part.rule, "points": part.points, "quote": part.quote, "note": part.note}
    return {name: value for name, value in said.items() if value is not None}


def _evidence(
    said: Mapping[str, Any], data: Mapping[str, Any], text: str, mentions: list[Mention]
) -> Evidence:
    places: dict[str, Place | None] = {}
    for name, fact in said["facts"].items():
        start, end = fact["start"], fact["end"]
        places[name] = None if start is None or end is None else Place(text[start:end], start, end)
    if "employees" in data:
        places["employees"] = places["size"]
    for number, each in enumerate(mentions):
        places[f"tech.{number}"] = Place(text[each.start : each.end], each.start, each.end)
    return Evidence(places, str(said["source"]))


def _missing(said: Mapping[str, Any], data: Mapping[str, Any], at: Thresholds) -> str:
    about, culture = len(data.get("about") or ""), len(data.get("culture") or "")
    return (
        f"{said['key']}: too little is said there. About has {about} characters (more than {at.about_minimal} are needed), "
        f"culture {culture} (more than {at.culture_minimal})"
        + ("" if data.get("name") else "; it has no name either")
    )

"""A project with the kinds of the jobs app, whose stages only end; the records that its stages would have
written are put there."""

from pathlib import Path

from thresher.admin.records import write_records
from thresher.apps.jobs.model import DECISION_MARKS, MATCH_MARKS
from thresher.core.clock import DAY, HOUR
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Link, Record
from thresher.hiring.records import company_name_key, entry
from thresher.runtime import opened_store

APP = """
from thresher import *


async def end(ctx):
    return Done()


from thresher.apps.jobs.app import app as real

KINDS = ("company", "source_discovery", "scrape_source", "job", "review", "work")
app = App(
    "jobs",
    pipelines=tuple(Pipeline(kind, Stage(end)) for kind in KINDS),
    needs=real.needs,
    settings=real.settings,
    follows=real.follows,
    events=real.events,
    commands=real.commands,
    explain="thresher.apps.jobs.service.decisions:EXPLAIN",
    exports="thresher.apps.jobs.exports:EXPORTS",
)
"""
TEXT = "We pay $100k-$120k. Python and PostgreSQL. Remote within the US."


def write(folder: Path, *records: Record) -> None:
    with opened_store(f"sqlite:///{folder / 'thresher.db'}") as store:
        write_records(store, records)


def now(folder: Path) -> int:
    with opened_store(f"sqlite:///{folder / 'thresher.db'}") as store, store.read() as session:
        return store.backend.now(session)


def company(key: str, name: str, at: int, **data: object) -> Record:
    said = {
        "name": name,
        "website": f"https://{key}/",
        "name_key": company_name_key(name),
        "status": "complete",
        "completeness": "good",
        "tier": "A",
        "score": 105,
        "analyzed_at": at,
        "size": "240 people",
        "headquarters": "Portland, Oregon",
        "tech": ["python", "react"],
        "score_parts": [
            {"rule": "office in Portland", "points": 50, "quote": "our office in Portland, Oregon"},
            {"rule": "works with python", "points": 55, "quote": "we write Python"},
        ],
    }
    return entry(
        "company", key, said | data, evidence=Evidence({"size": Place("our 240 people", 10, 24)}, "1" * 64)
    )


def board(key: str, owner: str, at: int, **data: object) -> Record:
    said = {
        "url": f"https://boards.greenhouse.io/{key.partition(':')[2]}",
        "platform": "greenhouse",
        "token": key.partition(":")[2],
        "company": owner,
        "company_name": owner.partition(".")[0].title(),
        "status": "active",
        "confidence": "high",
        "method": "page",
        "proof": "its own page links to it",
        "failures": 0,
        "due_at": at + 6 * HOUR,
        "scraped_at": at,
        "open": 2,
        "last_look": {
            "verdict": "found",
            "reason": "2 of 2",
            "found": 2,
            "total": 2,
            "complete": True,
            "pages": 1,
            "at": at,
        },
        "coverage": {"location": 1.0, "salary": 0.5},
        "alarms": [],
    }
    return entry("board", key, said | data, Link("company", owner))


def posting(key: str, title: str, at: int, **data: object) -> Record:
    said = {
        "title": title,
        "company_name": "Acme",
        "company": "acme.com",
        "location": "Portland, OR",
        "url": f"https://acme.com/jobs/{key[-1]}",
        "posted": "2026-01-02",
        "salary": {
            "text": "$100k-$120k",
            "low": 100_000,
            "high": 120_000,
            "currency": "USD",
            "period": "year",
        },
        "description": TEXT,
        "number": key.rpartition("/")[2],
        "board": "greenhouse:acme",
        "state": "open",
        "missed": 0,
        "first_seen": at - DAY,
        "seen_at": at,
        "closed_at": 0,
        "relisted": 0,
    }
    places = {"salary": Place("$100k-$120k", 7, 18)}
    return entry(
        "posting",
        key,
        said | data,
        Link("board", "greenhouse:acme"),
        Link("company", "acme.com"),
        evidence=Evidence(places, None),
    )


def decision(key: str, outcome: str, at: int, **data: object) -> Record:
    strike = {
        "category": "salary",
        "name": "target",
        "reason": "pays at most $120,000; you aim at $150,000",
        "quote": "$100k-$120k",
        "place": None,
        "severity": "strike",
        "points": 2,
    }
    said = {
        "posting": key,
        "outcome": outcome,
        "total_strikes": 2,
        "threshold": 5,
        "rejections": [strike],
        "score": 91,
        "components": [
            {"name": "skills", "points": 12, "reason": "python, postgresql", "quote": "Python and PostgreSQL"}
        ],
        "needed": 80,
        "city_bonus": False,
        "model": None,
        "at": at,
        "profile": "abc",
    }
    return Record("decision", key, said | data, (Link("posting", key),), marks=DECISION_MARKS)


def match(key: str, title: str, score: int, at: int, **data: object) -> Record:
    said = {
        "posting": key,
        "title": title,
        "company": "Acme",
        "url": f"https://acme.com/jobs/{key[-1]}",
        "score": score,
        "priority": "high" if score >= 85 else "medium",
        "matched_skills": ["python", "postgresql"],
        "skill_gaps": ["kafka"],
        "explanation": ["+12 skills: python, postgresql"],
        "decided_at": at,
    }
    return Record(
        "match",
        key,
        said | data,
        (Link("posting", key),),
        merge=True,
        initial={"status": "new", "notified_at": 0},
        marks=MATCH_MARKS,
    )

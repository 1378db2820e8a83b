"""A search for work as people look at it: matches, a board that waits, one that is disabled, an excluded
company, and what strangers wrote to be run.
"""

from tests.apps.jobs.cli.project import board, company, decision, match, posting
from tests.apps.jobs.test_job import TEXT
from thresher.admin.records import write_records
from thresher.core.clock import DAY, day_of
from thresher.core.record import Link, Record
from thresher.hiring.opening import Opening, facts_of
from thresher.store.store import Store

PROJECT = "apps: [jobs]\nsettings:\n  web.rate: 1000000\n"
EVIL = "<img src=x onerror=alert(1)>"
WAITING = {
    "status": "pending",
    "confidence": "medium",
    "validation_required": True,
    "proof": "a search engine named it",
    "sample": {"count": 3, "total": 12, "titles": ["Deckhand", f"Cook {EVIL}"], "look": "found"},
    "tried": [
        {"method": "guess", "url": "https://boards.greenhouse.io/heron", "verdict": "found", "count": 3}
    ],
    "scraped_at": 0,
    "due_at": 0,
    "last_look": None,
    "open": None,
}
BROKEN = {
    "status": "disabled",
    "disabled_tag": "failing",
    "disabled_reason": f"5 failures in a row {EVIL}",
    "failures": 5,
}
PREPARED = {
    "summary": f"Builds things {EVIL}",
    "prioritised_skills": ["python", "postgresql"],
    "projects": [],
}


def fill(store: Store) -> int:
    """The scene; when it is."""
    with store.read() as session:
        at = store.backend.now(session)
    write_records(
        store,
        [
            company("acme.com", "Acme", at),
            company("heron.com", "Blue Heron", at, tier="D", score=10, status="partial", score_parts=[]),
            company("rude.com", f"Rude {EVIL}", at, excluded="excluded.companies names rude", tried=[]),
            board("greenhouse:acme", "acme.com", at, alarms=["no posting has a salary any more"]),
            board("greenhouse:heron", "heron.com", at, **WAITING),
            board("greenhouse:old", "acme.com", at, **BROKEN),
            board("greenhouse:rude", "rude.com", at, excluded="excluded.companies names rude"),
            posting("greenhouse:acme/1", "Senior Python Engineer", at),
            posting("greenhouse:acme/2", f"Engineer {EVIL}", at, url="javascript:alert(1)", location=None),
            posting("greenhouse:acme/3", "Recruiter", at, state="closed", closed_at=at),
            posting("greenhouse:acme/4", "Cook", at, description=None, salary=None, lacks=["description"]),
            posting("greenhouse:acme/5", "Harbour Engineer", at, **near(at)),
            decision("greenhouse:acme/1", "saved", at),
            decision("greenhouse:acme/2", "saved", at, rejections=[], score=82),
            decision("greenhouse:acme/5", "skipped", at, score=76, rejections=[]),
            Record(
                "decision",
                "greenhouse:acme/4",
                {
                    "posting": "greenhouse:acme/4",
                    "outcome": "unknown",
                    "problem": f"HTTP 500 {EVIL}",
                    "at": at,
                },
                (Link("posting", "greenhouse:acme/4"),),
                marks=("outcome",),
            ),
            match("greenhouse:acme/1", "Senior Python Engineer", 91, at, resume_intake=PREPARED),
            match("greenhouse:acme/2", f"Engineer {EVIL}", 82, at, url="javascript:alert(1)"),
        ],
    )
    return at


def near(at: int) -> dict[str, object]:
    """What a posting says that by the example profile lacks a few points of a match."""
    opening = Opening(
        "greenhouse:acme/5",
        "Harbour Engineer",
        TEXT,
        "Harbour Works",
        posted=day_of(at),
        skills=("python", "postgresql"),
    )
    return {
        "facts": facts_of(opening),
        "description": TEXT,
        "location": "Remote - US",
        "posted": day_of(at).isoformat(),
        "salary": None,
        "company_name": "Harbour Works",
    }


def many(store: Store, number: int, at: int) -> list[str]:
    """So many matches with scores of which several are the same; their keys."""
    keys = [f"lever:many/{each}" for each in range(number)]
    write_records(
        store, [match(key, f"Opening {at_}", 40 + at_ % 7, at - DAY) for at_, key in enumerate(keys)]
    )
    return keys

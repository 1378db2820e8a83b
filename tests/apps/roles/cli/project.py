"""A project with the roles app, a few candidates, and postings that a scraper might have brought."""

from pathlib import Path

from thresher.admin.records import write_records
from thresher.core.record import Link, Record
from thresher.runtime import opened_store
from thresher.store.records import find_record

PROJECT = "apps: [roles]\nsettings:\n  worker.poll: 0.05\n  run.patience: 0\n"
PEOPLE = """id,email,name,title,skills,tech_stack,specializations,experience_years,locations,salary_min,currency,remote,roles
a1,,Anna Berg,Senior Python Developer,Python; SQL; Django,Docker;AWS,APIs,7,"Berlin, Germany",70000,EUR,yes,
,bo@example.com,Bo Lind,Welder,MIG;TIG,,,3,Portland OR,,,no,Pipe Fitter
"""
TEXT = "We want somebody who knows Python and SQL well, with 5 years of experience. Remote within Germany."


def write_posting(folder: Path, key: str, role_id: int, title: str = "Python Developer") -> int:
    """A posting as an import leaves it; the id of its record."""
    data = {
        "title": title,
        "company_name": "Acme",
        "location": "Berlin, Germany",
        "url": f"https://jobs.example/{key}",
        "description": TEXT,
        "number": key.partition("/")[2],
        "platform": "dice",
        "skills": ["Python", "SQL"],
        "state": "open",
        "first_seen": 1,
        "seen_at": 1,
        "content": key,
    }
    record = Record(
        "posting",
        key,
        data,
        (Link("role", str(role_id)), Link("id", key)),
        merge=True,
        marks=("state", "seen_at", "content"),
    )
    with opened_store(f"sqlite:///{folder / 'thresher.db'}") as store:
        write_records(store, [record])
        with store.read() as session:
            found = find_record(session, "posting", key)
    assert found is not None
    return found.id

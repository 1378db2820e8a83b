"""How fast candidates and postings are matched: all five parts of every pair, beside the least that NumPy
would need for it.

    python bench/pairs.py --candidates 10000 --postings 1000 --json

Two figures. `score` is the scoring itself, with facts and vectors given: pairs a second of processor time, so
that a second core does not flatter it, beside a lower bound (the weighted sum of five tables that are ready)
measured in the same run. `task` is everything that happens when postings come in, by a worker on a database:
load, score, settle. Vectors of texts are random there, as they are computed once and kept.
"""

import argparse
import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from thresher.admin.records import write_records
from thresher.apps.roles.app import app
from thresher.apps.roles.keep import with_facts
from thresher.apps.roles.matching.grid import grid
from thresher.apps.roles.matching.matched import Side, choose
from thresher.apps.roles.matching.offer import Offer, offer_of
from thresher.apps.roles.matching.points import usual_points
from thresher.apps.roles.matching.seeker import Seeker, as_seeker
from thresher.apps.roles.model import Candidate, CandidateRecord
from thresher.core.clock import day_of
from thresher.core.keys import point_key
from thresher.core.record import Found, Link, Record
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.engine.worker import Worker
from thresher.practice.postgres import practice_postgres
from thresher.runtime import install, open_store
from thresher.store import vectors as kept
from thresher.store.records import find_records
from thresher.vectors.embedder import shared_embedder

DIMS = 384
BLOCK = 250
CITIES = (
    "Austin, TX",
    "Houston, TX",
    "Boston, MA",
    "Seattle, WA",
    "Berlin, Germany",
    "Leeds, UK",
    "Toronto, ON",
    "Remote - US",
)
SKILLS = (
    "Python",
    "Java",
    "JavaScript",
    "TypeScript",
    "React",
    "Angular",
    "Vue",
    "Node.js",
    "Django",
    "Flask",
    "Spring",
    "Kubernetes",
    "Docker",
    "AWS",
    "Azure",
    "GCP",
    "PostgreSQL",
    "MySQL",
    "MongoDB",
    "Redis",
    "Kafka",
    "Spark",
    "Terraform",
    "Ansible",
    "Jenkins",
    "Git",
    "Linux",
    "Go",
    "Rust",
    "C++",
    "C#",
    "PHP",
    "Ruby",
    "Scala",
    "Kotlin",
    "Swift",
    "TensorFlow",
    "PyTorch",
    "Tableau",
    "Excel",
    *(
        f"{field} {what}"
        for field in (
            "customer",
            "patient",
            "contract",
            "inventory",
            "campaign",
            "budget",
            "vendor",
            "quality",
            "payroll",
        )
        for what in (
            "care",
            "management",
            "planning",
            "analysis",
            "reporting",
            "negotiation",
            "training",
            "forecasting",
        )
    ),
)


def candidate(rng: random.Random, number: int) -> Candidate:
    skills = rng.sample(SKILLS, rng.randint(4, 14))
    return Candidate(
        f"c{number}",
        f"Candidate {number}",
        "Developer",
        skills=tuple(skills[:8]),
        tech_stack=tuple(skills[8:]),
        experience_years=rng.choice((None, *range(20))),
        locations=tuple(rng.sample(CITIES, rng.randint(0, 3))),
        salary_min=rng.choice((None, *range(40_000, 200_000, 5_000))),
        remote=rng.choice((None, True, False)),
    )


def posting(rng: random.Random, number: int) -> Found:
    low = rng.randrange(40_000, 180_000, 2_500)
    words = " ".join(
        rng.choice(("We", "build", "good", "things", "for", "many", "people", "and", "like", "it"))
        for _ in range(220)
    )
    data: dict[str, Any] = {
        "title": f"Developer {number}",
        "company_name": f"Company {number % 300}",
        "location": rng.choice(CITIES),
        "state": "open",
        "seen_at": 1,
        "description": f"{words}. At least {rng.randint(1, 9)} years of experience in {', '.join(rng.sample(SKILLS, 5))}.",
        "skills": rng.sample(SKILLS, rng.randint(2, 9)),
        "number": str(number),
        "platform": "indeed",
        "salary": {"text": "", "low": low, "high": low + 20_000, "currency": "USD", "period": "year"},
    }
    return Found("posting", f"indeed/{number}", data, id=number)


def vectors(count: int, seed: int) -> list[bytes]:
    found = np.random.default_rng(seed).standard_normal((count, DIMS), np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return [row.tobytes() for row in found]


def measure_score(candidates: int, postings: int, rounds: int) -> dict[str, Any]:
    rng = random.Random(7)
    points, today = usual_points(), day_of(1_700_000_000_000_000)
    seekers: list[Seeker] = [as_seeker(at, candidate(rng, at)) for at in range(candidates)]
    found = [posting(rng, at) for at in range(postings)]
    began = time.perf_counter()
    read = [with_facts(each, today) for each in found]
    reading = time.perf_counter() - began
    offers: list[Offer] = [
        offer_of(Found("posting", each.key, {**each.data, **new.data}, evidence=new.evidence, id=each.id))
        for each, new in zip(found, read, strict=True)
    ]
    own, theirs = vectors(candidates, 1), vectors(postings, 2)
    took, bound, chosen = [], [], 0
    for _ in range(rounds):
        began = time.process_time()
        for start in range(0, candidates, BLOCK):
            grid(seekers[start : start + BLOCK], offers, points, own[start : start + BLOCK], theirs)
        took.append(time.process_time() - began)
        bound.append(_lower_bound(candidates, postings))
    began = time.process_time()
    chosen = len(choose(seekers, offers, points, Side(own, theirs)))
    choosing = time.process_time() - began
    pairs = candidates * postings
    return {
        "pairs": pairs,
        "pairs_per_second": round(pairs / min(took)),
        "numpy_pairs_per_second": round(pairs / min(bound)),
        "ratio": round(min(bound) / min(took), 3),
        "with_choice_pairs_per_second": round(pairs / choosing),
        "matches": chosen,
        "facts_per_second": round(postings / reading),
    }


def _lower_bound(candidates: int, postings: int) -> float:
    """The same number of weighted sums of five tables that are ready, block by block."""
    tables = [np.random.default_rng(at).integers(0, 10_000, (BLOCK, postings), np.int32) for at in range(5)]
    weights = [np.int64(each) for each in (40_000, 25_000, 15_000, 10_000, 10_000)]
    began = time.process_time()
    for _ in range(0, candidates, BLOCK):
        total = np.full(tables[0].shape, 50_000, np.int64)
        for weight, table in zip(weights, tables, strict=True):
            total += table * weight
        total //= 100_000
    return time.process_time() - began


def measure_task(candidates: int, postings: int, url: str) -> dict[str, Any]:
    rng = random.Random(7)
    store = open_store(url, apps=[app])
    registry = Registry([app], store.settings)
    install(store, registry)
    people = [candidate(rng, at) for at in range(candidates)]
    offered = [posting(rng, at) for at in range(postings)]
    write_records(
        store,
        [
            Record("candidate", each.key, CandidateRecord.made(each).stored(), (Link("wants", "1"),))
            for each in people
        ],
    )
    marks = ("state", "seen_at")
    write_records(
        store, [Record("posting", each.key, each.data, (Link("role", "1"),), marks=marks) for each in offered]
    )
    with store.read() as session:
        ids = [each.id for each in find_records(session, kind="posting", limit=postings)]
    today = day_of(1)
    texts = [as_seeker(1, each).text for each in people]
    texts += [
        offer_of(Found("posting", each.key, {**each.data, **with_facts(each, today).data})).text
        for each in offered
    ]
    embedder = shared_embedder()
    made = np.random.default_rng(3).standard_normal((len(texts), embedder.dims), np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    given = {point_key(text): row.tobytes() for text, row in zip(texts, made, strict=True)}
    kept.put(store, embedder.name, embedder.version, "fitting", given)
    store.enqueue(
        [registry.admit(NewTask("match_postings", {"role": 1, "postings": ids, "session": "bench"}))]
    )
    before, began, spent = _rss(), time.perf_counter(), time.process_time()
    asyncio.run(Worker(store, registry, until_idle=True).run())
    wall, cpu = time.perf_counter() - began, time.process_time() - spent
    with store.read() as session:
        written = session.rows("select count(*) from matches")[0][0]
        state = session.rows("select state, reason from tasks where kind = 'match_postings'")[0]
    store.close()
    pairs = candidates * postings
    return {
        "state": list(state),
        "seconds": round(wall, 2),
        "cpu_seconds": round(cpu, 2),
        "pairs_per_second": round(pairs / wall),
        "matches": written,
        "matches_per_second": round(written / wall),
        "rss_before_mb": before,
        "rss_peak_mb": _rss(),
    }


def _rss() -> int:
    """The most memory that this process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
        1_024 if sys.platform != "darwin" else 1_048_576
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--postings", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--no-task", action="store_true", help="only the scoring, without a database")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    if not asked.no_task:  # first: the most memory that a process ever had cannot be taken back
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = (
                f"sqlite:///{folder / 'pairs.db'}"
                if asked.store == "sqlite"
                else stack.enter_context(practice_postgres()).url
            )
            found["task"] = measure_task(asked.candidates, min(asked.postings, 1_000), url)
    found["score"] = measure_score(asked.candidates, asked.postings, asked.rounds)
    print(
        json.dumps(found, indent=2)
        if asked.json
        else "\n".join(f"{name}: {value}" for name, value in found.items())
    )


if __name__ == "__main__":
    main()

"""robots.txt: the vectors of protego's tests, and what the manifest counted in real files.

Where readers of the RFC disagree we take the more careful reading, so a vector may be forbidden although
protego allows it. Allowing what a vector forbids is a mistake.
"""

import json
from pathlib import Path
from typing import Any

from evaluate.manifest import entries
from evaluate.score import Score
from thresher.fetch.robots import read_rules


def scores(corpus: Path) -> list[Score]:
    cases = [case for entry in entries(corpus, "robots/vectors/") for case in json.loads(entry.body())]
    wrong = [case for case in cases if _allows(case) != case["allowed"]]
    return [
        _score(
            "vectors, right or more careful", cases, [case for case in wrong if not case["allowed"]], aim=1.0
        ),
        _score("vectors, the same answer", cases, wrong, aim=0.97),
        _sitemaps(corpus),
    ]


def _allows(case: dict[str, Any]) -> bool:
    return read_rules(case["robots_txt"].encode(), case["user_agent"]).allows(case["url"])


def _score(what: str, cases: list[dict[str, Any]], wrong: list[dict[str, Any]], aim: float) -> Score:
    misses = tuple(
        f"{case['test']}: {case['user_agent']} at {case['url']} should be {case['allowed']}" for case in wrong
    )
    return Score("robots", what, 1 - len(misses) / max(1, len(cases)), len(cases), aim=aim, misses=misses)


def _sitemaps(corpus: Path) -> Score:
    files = list(entries(corpus, "robots/real/"))
    misses = []
    for entry in files:
        found = len(read_rules(entry.body(), "thresher").sitemaps)
        if found != entry.truth["sitemaps"]:
            misses.append(f"{entry.file}: {found} sitemaps, {entry.truth['sitemaps']} expected")
    return Score(
        "robots",
        "sitemaps of real files",
        1 - len(misses) / max(1, len(files)),
        len(files),
        aim=0.99,
        misses=tuple(misses),
    )

"""robots.txt: the vectors of protego's tests, and what the manifest counted in real files."""

import json
from pathlib import Path

from evaluate.manifest import entries
from evaluate.score import Score
from thresher.fetch.robots import read_rules


def scores(corpus: Path) -> list[Score]:
    cases = [case for entry in entries(corpus, "robots/vectors/") for case in json.loads(entry.body())]
    misses = [
        f"{case['test']}: {case['user_agent']} at {case['url']} should be {case['allowed']}"
        for case in cases
        if read_rules(case["robots_txt"].encode(), case["user_agent"]).allows(case["url"]) != case["allowed"]
    ]
    return [
        Score("robots", "vectors", 1 - len(misses) / max(1, len(cases)), len(cases), aim=0.99, misses=tuple(misses)),
        _sitemaps(corpus),
    ]


def _sitemaps(corpus: Path) -> Score:
    files = list(entries(corpus, "robots/real/"))
    misses = []
    for entry in files:
        found = len(read_rules(entry.body(), "thresher").sitemaps)
        if found != entry.truth["sitemaps"]:
            misses.append(f"{entry.file}: {found} sitemaps, {entry.truth['sitemaps']} expected")
    return Score("robots", "sitemaps of real files", 1 - len(misses) / max(1, len(files)), len(files), aim=0.99, misses=tuple(misses))

"""URLs: the vectors of the WHATWG URL standard, part by part."""

import json
from pathlib import Path
from typing import Any

from evaluate.manifest import entries
from evaluate.score import Score
from thresher.core.errors import InvalidUrl
from thresher.reading.values.addresses import read_address

PARTS = (
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
)


def scores(corpus: Path) -> list[Score]:
    cases = [case for entry in entries(corpus, "urls/") for case in json.loads(entry.body())]
    misses = [miss for case in cases if isinstance(case, dict) and (miss := _miss(case)) is not None]
    value = 1 - len(misses) / len(cases) if cases else 1.0
    return [Score("addresses", "URL vectors", value, len(cases), aim=0.99, misses=tuple(misses))]


def _miss(case: dict[str, Any]) -> str | None:
    named = f"{case['input']!r} against {case.get('base')!r}"
    try:
        found = read_address(case["input"], case.get("base"))
    except InvalidUrl:
        return None if case.get("failure") else f"{named}: refused"
    if case.get("failure"):
        return f"{named}: read as {found.href}"
    wrong = {
        part: getattr(found, part) for part in PARTS if part in case and getattr(found, part) != case[part]
    }
    return f"{named}: {wrong}" if wrong else None

"""The facts of postings against labels. The labels were made by a model upstream, so they are a second
opinion and no truth: no aims."""

import html
import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from evaluate.manifest import share
from evaluate.score import Score
from thresher.hiring.facts import read_facts
from thresher.hiring.opening import Opening
from thresher.hiring.records import PostingRecord
from thresher.reading.text.plain import described

FOLDER = "postings/job-finder-benchmark"
_TAGS = re.compile(r"<[^<>]{0,2000}>")


def scores(corpus: Path) -> list[Score]:
    listings, labels = (
        _lines(corpus / FOLDER / name) for name in ("sample_listings.jsonl", "ground_truth.jsonl")
    )
    truths = {label["id"]: label["extraction"] for label in labels}
    read = [(_opening(each), truths[each["id"]]) for each in listings if each["id"] in truths]
    return [score for name, rule in FIELDS.items() for score in _scores(name, rule, read)] if read else []


def _lines(path: Path) -> list[Any]:
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        if path.exists()
        else []
    )


def _opening(listing: dict[str, Any]) -> Opening:
    text = described(listing["description"] or "") or html.unescape(
        _TAGS.sub(" ", listing["description"] or "")
    )
    posting = PostingRecord(
        listing["id"],
        title=listing["title"],
        location=listing.get("location"),
        description=text,
        salary=listing.get("salary_range"),
    )
    return read_facts(posting, today=date(2026, 3, 1))


def _workplace(opening: Opening, truth: dict[str, Any]) -> tuple[Any, Any]:
    return opening.workplace and opening.workplace.value, None if truth[
        "workArrangement"
    ] == "unknown" else truth["workArrangement"]


def _level(opening: Opening, truth: dict[str, Any]) -> tuple[Any, Any]:
    # Upstream calls it mid where nothing is said.
    said = None if truth["seniority"] in ("unknown", "mid") else truth["seniority"]
    read = opening.level and opening.level.value
    return None if read == "mid" else read, said


def _pay(opening: Opening, truth: dict[str, Any]) -> tuple[Any, Any]:
    read = (
        (opening.pay.year_low, opening.pay.year_high)
        if opening.pay and (opening.pay.year_low or opening.pay.year_high)
        else None
    )
    said = (truth["salaryMin"], truth["salaryMax"]) if truth["salaryMin"] or truth["salaryMax"] else None
    return read, said


def _experience(opening: Opening, truth: dict[str, Any]) -> tuple[Any, Any]:
    return opening.experience and opening.experience.low, truth["experienceMin"]


def _city(opening: Opening, truth: dict[str, Any]) -> tuple[Any, Any]:
    return next((spot.city for spot in opening.spots if spot.city), None), truth["city"]


Pair = Callable[[Opening, dict[str, Any]], tuple[Any, Any]]
FIELDS: dict[str, Pair] = {
    "workplace": _workplace,
    "level": _level,
    "pay": _pay,
    "experience": _experience,
    "city": _city,
}


def _scores(name: str, rule: Pair, read: list[tuple[Opening, dict[str, Any]]]) -> list[Score]:
    pairs = [(opening, *rule(opening, truth)) for opening, truth in read]
    said, found = (
        [each for each in pairs if each[2] is not None],
        [each for each in pairs if each[1] is not None],
    )
    missed = tuple(
        f"{each[0].title!r} at {each[0].key[:8]}: read {each[1]!r}, label {each[2]!r}"
        for each in said
        if each[1] != each[2]
    )
    wrong = tuple(
        f"{each[0].title!r} at {each[0].key[:8]}: read {each[1]!r}, label {each[2]!r}"
        for each in found
        if each[1] != each[2]
    )
    return [
        Score(
            "facts",
            f"{name}, labels that were read",
            share(len(said) - len(missed), len(said)),
            len(said),
            misses=missed,
        ),
        Score(
            "facts",
            f"{name}, readings that agree",
            share(len(found) - len(wrong), len(found)),
            len(found),
            misses=wrong,
        ),
    ]

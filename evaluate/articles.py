"""Main text against hand-made truth, and whether pages that are no articles keep what was labelled on them.

Shingle F1, as the article-extraction benchmark has it: the words of a text (runs of word characters) in
overlapping groups of four, counted. A page's precision is the share of our groups that are in the truth, its
recall the share of the truth that is in ours; the score is the harmonic mean of the mean precision and the
mean recall. The mean of the pages' own F1 is printed too: it is lower where one page is read very badly.
"""

import csv
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from statistics import mean

from evaluate.score import Score
from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.text.content import main_content
from thresher.reading.text.plain import full_text

GROUP = 4
READINGS = (
    3  # of each page; the fastest counts, as the others were disturbed by whatever else the machine does
)
_WORD = re.compile(r"\w+")
_FIELDED = ("detail-page", "job-posting-html", "product")
_NOT_ON_THE_PAGE = frozenset({"url", "trap", "note", "page_title"})


@dataclass(frozen=True, slots=True)
class Reading:
    """How one page was read."""

    url: str
    precision: float
    recall: float
    seconds: float

    @property
    def f1(self) -> float:
        return _harmonic(self.precision, self.recall)


def scores(corpus: Path) -> list[Score]:
    folder = corpus / "articles"
    if not (folder / "ground_truth.json").exists():
        return []
    readings = [
        _read(folder, name, truth)
        for name, truth in json.loads((folder / "ground_truth.json").read_text("utf-8")).items()
    ]
    precision, recall = (
        mean(reading.precision for reading in readings),
        mean(reading.recall for reading in readings),
    )
    worst = sorted(readings, key=lambda reading: reading.f1)
    misses = tuple(
        f"{r.f1:.3f} (precision {r.precision:.3f}, recall {r.recall:.3f}) {r.url}"
        for r in worst
        if r.f1 < 0.9
    )
    milliseconds = 1000 * mean(reading.seconds for reading in readings)
    return [
        Score(
            "articles",
            "main text, 4-word-shingle F1",
            _harmonic(precision, recall),
            len(readings),
            0.965,
            misses=misses,
        ),
        Score(
            "articles",
            "mean of the pages' F1",
            mean(reading.f1 for reading in readings),
            len(readings),
            0.965,
        ),
        Score(
            "articles",
            "CPU a page, bytes to main text",
            milliseconds,
            len(readings),
            5.0,
            lower=True,
            unit=" ms",
        ),
        _retention(corpus),
    ]


def _read(folder: Path, name: str, truth: dict[str, str]) -> Reading:
    body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
    page = Page(truth["url"], truth["url"], 200, {"content-type": "text/html"}, body)
    times = []
    for _ in range(READINGS):
        started = time.process_time()
        text = main_content(Document.of(page)).text
        times.append(time.process_time() - started)
    return Reading(truth["url"], *_overlap(truth["articleBody"], text), min(times))


def _overlap(truth: str, text: str) -> tuple[float, float]:
    wanted, got = _shingles(truth), _shingles(text)
    shared = sum((wanted & got).values())
    return shared / max(1, sum(got.values())), shared / max(1, sum(wanted.values()))


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[at : at + GROUP]) for at in range(max(1, len(words) - GROUP + 1)) if words)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _retention(corpus: Path) -> Score:
    """Of the labelled values that the full text has, the share that the main text has too."""
    full = kept = 0
    lost: list[str] = []
    for name, body, values in _labelled(corpus):
        document = Document.of(Page("", "https://example.org/", 200, {"content-type": "text/html"}, body))
        everything, main = _plain(full_text(document)), _plain(main_content(document).text)
        for value in values:
            full += value in everything
            kept += value in main
            if value in everything and value not in main:
                lost.append(f"{name}: {value!r} is not in the main text")
    return Score(
        "articles", "values kept on pages that are none", kept / max(1, full), full, 0.98, misses=tuple(lost)
    )


def _labelled(corpus: Path) -> Iterator[tuple[str, bytes, list[str]]]:
    with (corpus / "MANIFEST.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if row["kind"].startswith(_FIELDED) and row["file"].endswith((".html", ".htm")):
                truth = json.loads(row["ground_truth"] or "{}")
                yield row["file"], (corpus / row["file"]).read_bytes(), list(_values(truth))


def _values(truth: dict[str, object]) -> Iterator[str]:
    for name, value in truth.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and name not in _NOT_ON_THE_PAGE and _plain(one):
                yield _plain(one)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(unescape(text).lower()))

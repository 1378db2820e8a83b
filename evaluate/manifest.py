"""The manifest of a corpus: which files there are, and what is true of them."""

import csv
import gzip
import html
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from thresher.core.page import Page, Via
from thresher.reading.inspect.inspection import Inspection, inspect

TODAY = date(2026, 9, 1)  # after everything that was recorded


@dataclass(frozen=True, slots=True)
class Entry:
    file: str
    kind: str
    truth: dict[str, Any]
    path: Path

    def body(self) -> bytes:
        raw = self.path.read_bytes()
        return gzip.decompress(raw) if self.path.suffix == ".gz" else raw

    def page(self, url: str = "") -> Page:
        return Page(url or self.file, url, 200, {}, self.body(), via=Via.FILE)

    def inspected(self, url: str = "") -> Inspection:
        return inspect(self.page(url), TODAY)


def entries(corpus: Path, *folders: str) -> Iterator[Entry]:
    with (corpus / "MANIFEST.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["file"].startswith(folders) and (corpus / row["file"]).is_file():
                yield Entry(
                    row["file"], row["kind"], json.loads(row["ground_truth"] or "{}"), corpus / row["file"]
                )


HALVES = ("learn", "check")


def half(site: str) -> str:
    """The half that a site belongs to: whoever writes a rule looks only at pages of the first."""
    return HALVES[sha256(site.encode()).digest()[0] % 2]


def plain(text: Any) -> str:
    return " ".join(html.unescape(str(text or "")).split()).lower()


def share(hits: float, cases: int) -> float:
    return hits / cases if cases else 1.0

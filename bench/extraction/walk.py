"""What everybody who walks the catalogue shares: the order, what an item is, and the one object they print.

A walk that loses, doubles or invents an item, or has a wrong value, fails instead of reporting a figure.
"""

import argparse
import json
import resource
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.extraction.site import SEED
from parsel import Selector

from thresher.practice.web import DAY_ZERO, planted
from thresher.practice.web.planted import CatalogueSite, catalogue

IN_FLIGHT = 16
START = "/courses"
LINKS = "article.card h2 a::attr(href)"
# The hand-written reader of the rivals: the labels of the fields on a detail page.
TERMS = MappingProxyType(
    {
        "Code": "code",
        "Credits": "credits",
        "Level": "level",
        "Instructor": "instructor",
        "Prerequisites": "prerequisites",
    }
)


def list_pages(numbers: Iterable[str]) -> list[str]:
    """All other pages of the list, by the numbers that its pager shows on the first."""
    last = max((int(each) for each in numbers if each.strip().isdigit()), default=1)
    return [f"{START}?page={number}" for number in range(2, last + 1)]


def fields_of(selector: Selector) -> dict[str, str | None]:
    """The fields of a detail page."""
    labels = selector.css("dl.facts dt::text").getall()
    said = dict(zip(labels, selector.css("dl.facts dd::text").getall(), strict=True))
    return {
        "name": selector.css("h1::text").get(),
        "description": selector.css("p.lead::text").get(),
        **{field: said.get(label) for label, field in TERMS.items()},
    }


@dataclass(frozen=True, slots=True)
class Walk:
    """A catalogue of so many items behind an address, and a folder to keep things in."""

    items: int
    site: str
    folder: Path
    setting: str
    web: str
    database: str

    @property
    def catalogue(self) -> CatalogueSite:
        found = catalogue(f"n{self.items}.numbered")
        assert found is not None
        return found


def walk() -> Walk:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--site", required=True)
    parser.add_argument("--web", default="", help="where the scripted model answers")
    parser.add_argument("--database", default="", help="a fresh PostgreSQL database; else a SQLite file")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--setting", default="")
    return Walk(**vars(parser.parse_args()))


def cpu() -> float:
    """What this process and those it has waited for have used."""
    return sum(
        each.ru_utime + each.ru_stime
        for each in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Watch:
    """The clock of one walk: from the first request to the last item stored."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), cpu()

    def used(self) -> tuple[float, float, float]:
        """Seconds, seconds of the processor, megabytes."""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return time.perf_counter() - self._wall, cpu() - self._cpu, memory

    def report(
        self, name: str, given: Walk, pages: int, items: Iterable[Mapping[str, Any]], kept: str
    ) -> None:
        used = self.used()
        check(name, given, items)
        tell(name, pages, *used, kept)


def check(name: str, given: Walk, items: Iterable[Mapping[str, Any]]) -> None:
    """Every planted item once, each value as its page has it."""
    names = [each.name for each in given.catalogue.fields]
    truth = sorted(values(each.fields, names) for each in planted(given.catalogue.host, SEED, DAY_ZERO))
    found = sorted(values(each, names) for each in items)
    if found != truth:
        wrong = next((pair for pair in zip(found, truth, strict=False) if pair[0] != pair[1]), None)
        raise SystemExit(f"{name}: {len(found)} items, {len(truth)} planted; the first difference: {wrong}")


def values(item: Mapping[str, Any], names: list[str]) -> tuple[str, ...]:
    return tuple(" ".join(str(item.get(name) or "").split()) for name in names)


def tell(name: str, pages: int, seconds: float, used: float, memory: float, kept: str) -> None:
    print(
        json.dumps(
            {
                "name": name,
                "pages": pages,
                "pages_per_s": round(pages / seconds, 1),
                "cpu_ms": round(used / pages * 1000, 3),
                "rss_mb": round(memory),
                "kept": kept,
            }
        )
    )

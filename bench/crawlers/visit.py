"""What every crawler shares: the order it is given, and the one object it prints."""

import argparse
import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path

IN_FLIGHT = 16


@dataclass(frozen=True, slots=True)
class Visit:
    """How many pages of which site, and a folder to keep things in."""

    pages: int
    site: str
    folder: Path
    setting: str

    @property
    def urls(self) -> list[str]:
        return [f"{self.site}/page/{number}" for number in range(self.pages)]


def _cpu() -> float:
    """What this process and those it has waited for have used."""
    return sum(
        each.ru_utime + each.ru_stime
        for each in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


class Watch:
    """The clock of one crawl: from the first URL put into the queue to the last row stored."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _cpu()

    def report(self, name: str, visit: Visit, stored: int, guarantee: str) -> None:
        """Print the result, or fail: a crawl that lost a page is no measurement."""
        wall, cpu = time.perf_counter() - self._wall, _cpu() - self._cpu
        if stored != visit.pages:
            raise SystemExit(f"{name}: {visit.pages} pages asked for, {stored} rows stored")
        print(
            json.dumps(
                {
                    "name": name,
                    "pages": stored,
                    "pages_per_s": round(stored / wall, 1),
                    "cpu_ms": round(cpu / stored * 1000, 3),
                    "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
                    "guarantee": guarantee,
                }
            )
        )


def visit() -> Visit:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--site", required=True)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--setting", default="")
    return Visit(**vars(parser.parse_args()))

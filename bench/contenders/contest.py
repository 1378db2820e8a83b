"""What every contender shares: the order it is given, the proof that each task really ran, and the one object
it prints."""

import argparse
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

SINGLES = 500
BULK = 1_000


@dataclass(frozen=True, slots=True)
class Order:
    """How much to do and where: a folder for a SQLite file, or the URL of an empty PostgreSQL database."""

    tasks: int
    batch: int
    gates: int
    setting: str
    folder: Path
    database: str

    @property
    def file(self) -> Path:
        return self.folder / "contest.db"

    @property
    def singles(self) -> int:
        return min(self.tasks, SINGLES)

    def bulks(self) -> list[int]:
        """Sizes of the bulk enqueues that follow the single ones."""
        rest = self.tasks - self.singles
        return [min(BULK, rest - at) for at in range(0, rest, BULK)]


def order() -> Order:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--gates", type=int, default=0)
    parser.add_argument("--setting", default="")
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--database", default="")
    return Order(**vars(parser.parse_args()))


@dataclass(slots=True)
class Tally:
    """Which tasks the handler has seen. Identity, not a mere count: a task run twice must not stand in for
    one that was lost."""

    expected: int
    seen: set[object] = field(default_factory=set)
    calls: int = 0
    first: float = 0.0
    last: float = 0.0

    def note(self, identity: object) -> bool:
        """Called by the handler; true when this was the last task missing."""
        if not self.calls:
            self.first = time.perf_counter()
        self.calls += 1
        self.seen.add(identity)
        if len(self.seen) < self.expected:
            return False
        self.last = time.perf_counter()
        return True


def per_s(number: int, started: float, ended: float | None = None) -> int | None:
    taken = (time.perf_counter() if ended is None else ended) - started
    return round(number / taken) if number else None


def report(
    name: str, store: str, given: Order, tally: Tally, *, left: int, guarantee: str, **figures: object
) -> None:
    """Print the result, or fail: a drain that skipped, repeated or left behind a task is no measurement."""
    if len(tally.seen) != given.tasks or tally.calls != given.tasks or left:
        raise SystemExit(
            f"{name}: {given.tasks} tasks, {tally.calls} calls, {len(tally.seen)} different, {left} left in the store"
        )
    shown = {"name": name, "store": store, "batch": given.batch, "gates": given.gates, "tasks": given.tasks}
    print(
        json.dumps(shown | figures | {"guarantee": guarantee, "verified": "every task seen once, none left"})
    )

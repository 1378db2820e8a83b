"""Matching titles with titles: our exact search beside plain NumPy in the same run, and the product alone as
the limit.

    python bench/matching.py [--titles 10000] [--rounds 5] [--random]
    python bench/matching.py --latency
    python bench/matching.py --occupations FOLDER

Titles are made up from a few lists of words, so that many are nearly alike, as real ones are. `--random`
takes random vectors instead and needs no model. `--latency` measures embedding itself. `--occupations` reads
occupations.csv (code,title) and alternate_titles.csv (code,alternate_title) from a folder, and counts how
many titles are nearest to their own occupation, and to another title of it.
"""

import argparse
import csv
import random
import resource
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thresher.vectors.embedder import Embedder, open_embedder, open_model
from thresher.vectors.lexical import Lexical
from thresher.vectors.matrix import Matrix
from thresher.vectors.nearest import Index, match

LEVELS = ("", "Junior", "Senior", "Sr.", "Lead", "Principal", "Head of", "Assistant", "Chief", "Interim")
FIELDS = (
    "Python",
    "Java",
    "Data",
    "Marketing",
    "Nursing",
    "Warehouse",
    "Sales",
    "Payroll",
    "Marine",
    "Security",
    "Cloud",
    "Quality",
    "Legal",
    "Tax",
    "Kitchen",
    "Fleet",
    "Network",
    "Product",
    "Brand",
    "Clinical",
    "Mechanical",
    "Electrical",
    "Chemical",
    "Travel",
    "Insurance",
)
ROLES = (
    "Engineer",
    "Developer",
    "Manager",
    "Analyst",
    "Assistant",
    "Consultant",
    "Specialist",
    "Technician",
    "Coordinator",
    "Director",
    "Officer",
    "Trainer",
    "Planner",
    "Inspector",
    "Advisor",
    "Architect",
)
ADDED = (
    "",
    "(m/f/d)",
    "- Berlin",
    "- Remote",
    ", Europe",
    "II",
    "III",
    "part time",
    "(contract)",
    "- night shift",
)
SHARES = (0.95, 0.90, 0.85, 0.80, 0.75, 0.70, 0.60, 0.50)
MIN_SCORE = 0.85


def titles(count: int, seed: int) -> list[str]:
    pick = random.Random(seed)
    return [" ".join(filter(None, map(pick.choice, (LEVELS, FIELDS, ROLES, ADDED)))) for _ in range(count)]


def noise(count: int, seed: int) -> Matrix:
    numbers = np.random.default_rng(seed).standard_normal((count, 384), np.float32)
    numbers /= np.linalg.norm(numbers, axis=1, keepdims=True)
    return Matrix(memoryview(numbers.reshape(-1).data), 384)


def product(left: Any, right: Any) -> Any:
    return left @ right.T


def partition(left: Any, right: Any, k: int) -> Any:
    scores = left @ right.T
    best = np.argpartition(scores, -k, axis=1)[:, -k:]
    found = np.take_along_axis(scores, best, axis=1)
    order = np.argsort(-found, axis=1)
    return np.take_along_axis(best, order, axis=1).tolist(), np.take_along_axis(found, order, axis=1).tolist()


def threshold(left: Any, right: Any) -> Any:
    scores = left @ right.T
    ours, theirs = np.nonzero(scores >= MIN_SCORE)
    return list(zip(ours.tolist(), theirs.tolist(), scores[ours, theirs].tolist(), strict=True))


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def peak(act: Callable[[], object]) -> float:
    tracemalloc.start()
    act()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / (1 << 20)


def search(count: int, rounds: int, *, made_up: bool) -> None:
    if made_up:
        left, right = noise(count, 1), noise(count, 2)
    else:
        embedder = open_embedder()
        start = time.perf_counter()
        left, right = embedder.embed(titles(count, 1)), embedder.embed(titles(count, 2))
        print(f"embedding 2 x {count:,} titles with {embedder.name}: {time.perf_counter() - start:.1f} s")
    one, other = np.asarray(left), np.asarray(right)
    ours, theirs = Index(range(count), left), Index(range(count), right)
    contenders: dict[str, Callable[[], object]] = {
        "the product alone: the limit": lambda: product(one, other),
        "plain NumPy, nearest 1": lambda: partition(one, other, 1),
        "Index, nearest 1": lambda: list(theirs.nearest_each(left, 1)),
        "plain NumPy, nearest 10": lambda: partition(one, other, 10),
        "Index, nearest 10": lambda: list(theirs.nearest_each(left, 10)),
        f"plain NumPy, all pairs over {MIN_SCORE}": lambda: threshold(one, other),
        f"match, all pairs over {MIN_SCORE}": lambda: list(match(ours, theirs, MIN_SCORE)),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, act in contenders.items():
            times[name].append(seconds(act))
    limit = min(next(iter(times.values())))  # of several rounds the least is what the others did not disturb
    pairs = sum(1 for _ in match(ours, theirs, MIN_SCORE))
    print(
        f"\n{count:,} x {count:,}, {left.dims} dimensions, {pairs:,} pairs over {MIN_SCORE}; {rounds} rounds"
    )
    print("| | median | least to most | least / the limit | peak memory |\n|---|---|---|---|---|")
    for name, took in times.items():
        middle = statistics.median(took)
        print(
            f"| {name} | {middle:.2f} s | {min(took):.2f}–{max(took):.2f} | {min(took) / limit:.2f} | {peak(contenders[name]):,.0f} MB |"
        )


def latency(rounds: int) -> None:
    start = time.perf_counter()
    model = open_model()
    opened = time.perf_counter() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"open the model: {opened * 1e3:.0f} ms (NumPy already imported); resident {before:.0f} MB")
    print(
        "milliseconds a title: CPU; least and median of what passed\n| titles at once | local model | shared letters |\n|---|---|---|"
    )
    for count in (1, 32, 256):
        print(f"| {count} | {_each(model, count, rounds)} | {_each(Lexical(), count, rounds)} |")
    print(f"most memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def _each(embedder: Embedder, count: int, rounds: int) -> str:
    texts = titles(count, 3)
    embedder.embed(texts)
    before, repeats = time.process_time(), rounds * max(1, 64 // count)
    took = [seconds(lambda: embedder.embed(texts)) / count * 1e3 for _ in range(repeats)]
    return f"{(time.process_time() - before) / repeats / count * 1e3:.2f}, {min(took):.2f}, {statistics.median(took):.2f}"


def occupations(folder: Path) -> None:
    with (folder / "occupations.csv").open(newline="", encoding="utf-8") as file:
        known = [(row["code"], row["title"]) for row in csv.DictReader(file)]
    with (folder / "alternate_titles.csv").open(newline="", encoding="utf-8") as file:
        asked = [(row["code"], row["alternate_title"]) for row in csv.DictReader(file)]
    for embedder in (open_model(), Lexical()):
        vectors = embedder.embed([title for _, title in asked])
        index = Index([code for code, _ in known], embedder.embed([title for _, title in known]))
        found = [
            (near[0].score, near[0].key == code, any(each.key == code for each in near))
            for (code, _), near in zip(asked, index.nearest_each(vectors, 5), strict=True)
        ]
        print(f"\n{embedder.name}: {len(asked):,} titles, {len(known):,} occupations")
        _shares("the occupation itself", found)
        _shares("another title of it", _siblings(asked, vectors))


def _siblings(asked: Sequence[tuple[str, str]], vectors: Matrix) -> list[tuple[float, bool, bool]]:
    """The nearest titles that are spelt otherwise; one title may belong to several occupations."""
    owners: dict[str, set[str]] = {}
    for code, title in asked:
        owners.setdefault(title.casefold(), set()).add(code)
    places = {title.casefold(): place for place, (_, title) in enumerate(asked)}
    names = sorted(places)
    index = Index(
        names,
        Matrix(
            memoryview(np.asarray(vectors)[[places[name] for name in names]].reshape(-1).data), vectors.dims
        ),
    )
    found = []
    for name, near in zip(names, index.nearest_each(index.matrix, 6), strict=True):
        others = [each for each in near if each.key != name][:5]
        right = [bool(owners[each.key] & owners[name]) for each in others]
        found.append((others[0].score, right[0], any(right)))
    return found


def _shares(what: str, found: Sequence[tuple[float, bool, bool]]) -> None:
    print(
        f"nearest to {what}: {_share([first for _, first, _ in found])}, among the five nearest {_share([five for _, _, five in found])}"
    )
    for least in SHARES:
        right = [first for score, first, _ in found if score >= least]
        print(f"  at least {least:.2f}: {len(right) / len(found):.1%} of titles, right {_share(right)}")


def _share(right: Sequence[bool]) -> str:
    return f"{sum(right) / len(right):.1%}" if right else "–"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--titles", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--occupations", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    if asked.occupations:
        occupations(asked.occupations)
    elif asked.latency:
        latency(asked.rounds)
    else:
        search(asked.titles, asked.rounds, made_up=asked.random)


if __name__ == "__main__":
    main()

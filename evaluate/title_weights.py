"""Learn how much each sign counts that a title is another name of a role (`hiring/title/likeness.py`).

    python -m evaluate.title_weights CORPUS

Titles of O*NET, and of `titles/taxonomy.csv` where the corpus has it, are compared with the occupations near
them. Only the half of the occupations called "learn" is read. Logistic regression with a small penalty; what
is printed replaces the constants of that module. Each taxonomy counts the same, however many titles it has.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluate.titles import LEFT_OVER, csv_rows
from evaluate.unseen import half_of
from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of, title_key
from thresher.hiring.title.guard import Difference, apart, difference
from thresher.hiring.title.likeness import BY_DIFFERENCE, LOOKED_AT, SIGNS, TRIED, lead, signs
from thresher.vectors.embedder import Embedder, open_embedder
from thresher.vectors.nearest import Index

Pairs = Sequence[tuple[str, str]]
Floats = NDArray[np.float64]
FLOOR = 0.75  # cosine of a pair that is looked at
PENALTY, ROUNDS = 0.01, 30
KINDS = tuple(BY_DIFFERENCE)


def main(corpus: Path) -> None:
    rows, right, counts = [], [], []
    for known, titles, listed in _taxonomies(corpus / "titles"):
        found = list(_examples(known, titles, listed, open_embedder()))
        rows += [row for row, _ in found]
        right += [is_right for _, is_right in found]
        counts += [1 / len(found)] * len(found)
    weight = np.array(counts) * len(counts) / sum(counts)
    _show(_fit(np.array(rows), np.array(right, float), weight), len(rows))


def _taxonomies(folder: Path) -> Iterator[tuple[Pairs, Pairs, Pairs]]:
    """The names of roles, other titles, and everything that a role is listed with."""
    onet = folder / "onet"
    if onet.is_dir():
        known = [(row[0], row[1]) for row in csv_rows(onet / "occupations.csv") if LEFT_OVER not in row[1]]
        titles = [(row[0], row[1]) for row in csv_rows(onet / "alternate_titles.csv")]
        reported = [(row[0], row[1]) for row in csv_rows(onet / "reported_titles.csv")]
        yield known, titles, [*titles, *reported, *known]
    if (folder / "taxonomy.csv").is_file():
        titles = [(row[0], row[1]) for row in csv_rows(folder / "taxonomy.csv")]
        known = [(role, role) for role in dict.fromkeys(role for role, _ in titles)]
        yield known, titles, [*titles, *known]


def _examples(
    known: Pairs, titles: Pairs, listed: Pairs, embedder: Embedder
) -> Iterator[tuple[list[float], bool]]:
    """The signs of each title and each of its nearest occupations, and whether that lists it."""
    right: dict[str, set[str]] = defaultdict(set)
    for code, title in listed:
        right[title_key(title)].add(code)
    roles = {core: (code, name) for code, name in reversed(known) if (core := core_of(name))}
    codes = {code for code, _ in known}
    learned = [title for code, title in titles if code in codes and half_of(code) == "learn"]
    cores = [core_of(title) for title in learned]
    index = Index(list(roles), embedder.embed(list(roles)))
    for title, core, found in zip(
        learned, cores, index.nearest_each(embedder.embed(cores), LOOKED_AT), strict=True
    ):
        near = [Neighbour(at, roles[each.key][1], each.score) for at, each in enumerate(found)]
        if any(_says_the_same(core, each) for each in near):
            continue  # nothing is weighed there
        for at in range(min(TRIED, len(near))):
            if _is_open(core, near[at]):
                yield _row(core, near, at), roles[found[at].key][0] in right[title_key(title)]


def _is_open(core: str, role: Neighbour) -> bool:
    known = core_of(role.name)
    return role.score >= FLOOR and difference(core, known) in KINDS and apart(core, known) is None


def _says_the_same(core: str, role: Neighbour) -> bool:
    known = core_of(role.name)
    same = difference(core, known) is Difference.NOTHING
    return same and role.score >= FLOOR and apart(core, known) is None


def _row(core: str, near: Sequence[Neighbour], at: int) -> list[float]:
    found = difference(core, core_of(near[at].name))
    by_kind = [
        value if found is kind else 0.0 for kind in KINDS for value in (1.0, near[at].score, lead(near, at))
    ]
    return [*signs(core, near, at), *by_kind]


def _fit(rows: Floats, right: Floats, counts: Floats) -> Floats:
    """Logistic regression by Newton's method."""
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (right - chance)) - PENALTY * weights
        curve = (rows * (counts * chance * (1 - chance))[:, None]).T @ rows + PENALTY * np.eye(len(weights))
        weights += np.linalg.solve(curve, slope)
    return weights


def _show(weights: Floats, examples: int) -> None:
    print(f"# {examples} pairs of a title and a role")
    for sign, weight in zip(SIGNS, weights, strict=False):
        print(f"{weight:8.2f}  {sign}")
    by_kind = weights[len(SIGNS) :].reshape(len(KINDS), 3)
    for kind, numbers in zip(KINDS, by_kind, strict=True):
        print(f"Difference.{Difference(kind).name}: ({', '.join(f'{number:.2f}' for number in numbers)}),")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

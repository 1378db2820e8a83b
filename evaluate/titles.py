"""Titles: which occupation an alternate title belongs to, by meaning and by letters; what becomes of titles
that no role is known by (`unseen`); what is kept apart, and what it costs.

O*NET lists what people call each occupation. Its occupations are finer than roles in places (a teacher of
each sort of school) and name many titles twice, so a title counts as right in every occupation that lists it.
Occupations named by what is left over ("All Other") are no role that anybody has, and stay out.

Any other taxonomy is measured in the same way where the corpus has it: `titles/taxonomy.csv`, and more as
`titles/taxonomy-NAME.csv`, rows of a role and another name of it. A row of a role and the same name only
says that the role is known.
"""

import csv
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluate.score import Score
from evaluate.unseen import LEAST, unseen
from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.hiring.title.likeness import LOOKED_AT, choose
from thresher.vectors.embedder import Embedder, open_embedder
from thresher.vectors.lexical import Lexical
from thresher.vectors.nearest import Index

SAMPLE, VARIED = 4_000, 1_500
MIN_SCORE = 0.85
LEFT_OVER = "All Other"
WORST = 20
VARIANTS = (
    "Senior {}",
    "Sr. {}",
    "Jr. {}",
    "Junior {}",
    "Lead {}",
    "Principal {}",
    "{} II",
    "{} III",
    "Mid-Level {}",
    "{} (m/f/d)",
    "{} - Remote",
    "Senior {} (Req #48213)",
)
# Pairs of our own: work that people tell apart, and work that they do not.
OTHERS = (
    ("Java Developer", "JavaScript Developer"),
    ("Front End Developer", "Back End Developer"),
    ("Sales Manager", "Marketing Manager"),
    ("C Developer", "C++ Developer"),
    ("C# Developer", "C++ Developer"),
    ("React Developer", "Angular Developer"),
    ("iOS Developer", "Android Developer"),
    ("Project Manager", "Product Manager"),
    ("Product Manager", "Production Manager"),
    ("Data Scientist", "Data Analyst"),
    ("Data Engineer", "Data Analyst"),
    ("Python Developer", "Software Developer"),
    ("Mechanical Engineer", "Electrical Engineer"),
    ("Electrical Engineer", "Electronics Engineer"),
    ("Account Manager", "Accounting Manager"),
    ("Account Manager", "Account Executive"),
    ("Registered Nurse", "Licensed Practical Nurse"),
    ("Truck Driver", "Bus Driver"),
    ("Elementary School Teacher", "Middle School Teacher"),
    ("Assistant Manager", "Manager"),
    ("Security Engineer", "Security Guard"),
    ("Physician", "Physician Assistant"),
    ("Nurse", "Nurse Manager"),
    ("Software Engineer", "Engineer"),
    ("Head Chef", "Pastry Chef"),
    ("Dental Assistant", "Dental Hygienist"),
    ("Network Engineer", "Network Administrator"),
    ("Civil Engineer", "Structural Engineer"),
    ("Financial Analyst", "Financial Advisor"),
    ("Web Designer", "Web Developer"),
    ("HR Manager", "Sales Manager"),
    ("Scala Developer", "Java Developer"),
    ("Test Engineer", "Software Engineer"),
    ("Sales Engineer", "Software Engineer"),
)
SAME = (
    ("Software Developer", "Software Engineer"),
    ("Python Developer", "Python Engineer"),
    ("Java Programmer", "Java Developer"),
    ("QA Engineer", "Quality Assurance Engineer"),
    ("Frontend Developer", "Front-End Developer"),
    ("HR Manager", "Human Resources Manager"),
    ("ML Engineer", "Machine Learning Engineer"),
    ("Systems Administrator", "System Administrator"),
    ("Attorney", "Lawyer"),
    ("Full Stack Developer", "Full-Stack Engineer"),
    ("RN", "Registered Nurse"),
    ("Director of Sales", "Sales Director"),
    ("Web Developer", "Website Developer"),
    ("Customer Service Rep", "Customer Support Representative"),
    ("Physician", "Doctor"),
    ("Engineer, Software", "Software Engineer"),
    ("Golang Developer", "Go Developer"),
    ("Cashiers", "Cashier"),
    ("SRE", "Site Reliability Engineer"),
    ("React.js Developer", "ReactJS Developer"),
    ("Copy Writer", "Copywriter"),
    ("VP Sales", "Vice President of Sales"),
)


@dataclass(frozen=True, slots=True)
class _Case:
    """A title with its core, the occupations that list it, and the occupations nearest to it."""

    title: str
    core: str
    right: frozenset[str]
    near: Sequence[Neighbour]


def scores(corpus: Path) -> list[Score]:
    model = open_embedder()
    found = [
        score
        for path in sorted((corpus / "titles").glob("taxonomy*.csv"))
        for score in _by_taxonomy(path, model)
    ]
    folder = corpus / "titles" / "onet"
    return [*found, *_by_occupations(corpus, folder, model)] if folder.is_dir() else found


def _by_taxonomy(path: Path, embedder: Embedder) -> list[Score]:
    rows = [(row[0], row[1]) for row in csv_rows(path)]
    roles = [(role, role) for role in dict.fromkeys(role for role, _ in rows)]
    titles = [(role, title) for role, title in rows if title != role]
    return unseen(f"{path.stem}, ", roles, titles, [*titles, *roles], embedder)


def _by_occupations(corpus: Path, folder: Path, model: Embedder) -> list[Score]:
    letters = Lexical()
    occupations = csv_rows(folder / "occupations.csv")
    titles = [(row[0], row[1]) for row in csv_rows(folder / "alternate_titles.csv")]
    asked = random.Random(7).sample(titles, min(SAMPLE, len(titles)))
    right: dict[str, set[str]] = defaultdict(set)
    for code, title in (
        *titles,
        *((row[0], row[1]) for row in csv_rows(folder / "reported_titles.csv")),
        *occupations,
    ):
        right[core_of(title)].add(code)
    found: list[Score] = []
    for name, embedder in (("meaning", model), ("letters", letters)):
        cases = _cases(occupations, [title for _, title in asked], right, embedder)
        found += [*_ranked(name, cases, occupations), *_merged(name, cases, occupations)]
    plain = [row[0] for row in csv_rows(corpus / "titles" / "job-titles" / "titles_4000.txt", header=False)]
    known = [(row[0], row[1]) for row in occupations if LEFT_OVER not in row[1]]
    reported = [(row[0], row[1]) for row in csv_rows(folder / "reported_titles.csv")]
    found += unseen("", known, titles, [*titles, *reported, *known], model)
    return [*found, _collapse(random.Random(7).sample(plain, VARIED)), *_pairs(model)]


def _cases(
    occupations: Sequence[Sequence[str]],
    titles: Sequence[str],
    right: dict[str, set[str]],
    embedder: Embedder,
) -> list[_Case]:
    index = Index(list(range(len(occupations))), embedder.embed([core_of(row[1]) for row in occupations]))
    cores = [core_of(title) for title in titles]
    near = index.nearest_each(embedder.embed(cores), LOOKED_AT)
    names = [row[1] for row in occupations]
    found = [
        [Neighbour(one.key, names[one.key], one.score, embedder.meaning) for one in some] for some in near
    ]
    return [
        _Case(title, core, frozenset(right[core]), some)
        for title, core, some in zip(titles, cores, found, strict=True)
    ]


def _ranked(name: str, cases: Sequence[_Case], occupations: Sequence[Sequence[str]]) -> list[Score]:
    hits = {
        most: sum(any(occupations[one.id][0] in case.right for one in case.near[:most]) for case in cases)
        for most in (1, 5)
    }
    said = "occupation of a title, by {}: top {}"
    return [
        Score("titles", said.format(name, most), 100 * hit / len(cases), len(cases), unit="%")
        for most, hit in hits.items()
    ]


def _merged(name: str, cases: Sequence[_Case], occupations: Sequence[Sequence[str]]) -> list[Score]:
    """Titles of another core that nearness makes one role with an occupation, without the guard and with
    it."""
    plain = [
        (case, case.near[0])
        for case in cases
        if case.near[0].score >= MIN_SCORE and _other(case, case.near[0])
    ]
    chosen = [(case, choose(case.core, case.near, LEAST).role) for case in cases]
    guarded = [(case, role) for case, role in chosen if role is not None and _other(case, role)]
    good = [(case, one) for case, one in plain if occupations[one.id][0] in case.right]
    kept = sum(choose(case.core, case.near, LEAST).role == one for case, one in good)
    return [
        _wrong(f"wrong among merges by {name}, no guard", plain, occupations),
        _wrong(f"wrong among merges by {name}, guarded", guarded, occupations),
        Score(
            "titles",
            f"right merges by {name} that the guard allows",
            100 * kept / max(1, len(good)),
            len(good),
            unit="%",
        ),
    ]


def _other(case: _Case, one: Neighbour) -> bool:
    return core_of(one.name) != case.core


def _wrong(
    what: str, merges: Sequence[tuple[_Case, Neighbour]], occupations: Sequence[Sequence[str]]
) -> Score:
    wrong = sorted(
        (
            (one.score, case.title, one.name)
            for case, one in merges
            if occupations[one.id][0] not in case.right
        ),
        reverse=True,
    )
    worst = tuple(f"{score:.3f} {title} -> {name}" for score, title, name in wrong[:WORST])
    return Score(
        "titles",
        what,
        100 * len(wrong) / max(1, len(merges)),
        len(merges),
        lower=True,
        unit="%",
        misses=worst,
    )


def _collapse(titles: Sequence[str]) -> Score:
    misses = [
        said
        for title in titles
        for form in VARIANTS
        if core_of(said := form.format(title.title())) != core_of(title.title())
    ]
    cases = len(titles) * len(VARIANTS)
    share = 100 * (1 - len(misses) / cases)
    return Score(
        "titles",
        "variants of rank and form collapse",
        share,
        cases,
        95,
        unit="%",
        misses=tuple(misses[:WORST]),
    )


def _pairs(embedder: Embedder) -> list[Score]:
    parted = [f"{left} and {right}" for left, right in OTHERS if _one_role(embedder, left, right)]
    joined = [f"{left} and {right}" for left, right in SAME if not _one_role(embedder, left, right)]
    return [
        _judged("pairs of other work stay apart", parted, len(OTHERS), 100),
        _judged("pairs of the same work meet", joined, len(SAME), 80),
    ]


def _judged(what: str, misses: Sequence[str], cases: int, aim: float) -> Score:
    return Score("titles", what, 100 * (1 - len(misses) / cases), cases, aim, unit="%", misses=tuple(misses))


def _one_role(embedder: Embedder, left: str, right: str) -> bool:
    """Whether the second title would be taken for the role of the first."""
    cores = core_of(left), core_of(right)
    if cores[0] == cores[1]:
        return True
    points = embedder.embed(cores)
    score = sum(one * other for one, other in zip(points[0], points[1], strict=True))
    return choose(cores[1], [Neighbour(1, left, score, embedder.meaning)], LEAST).role is not None


def csv_rows(path: Path, *, header: bool = True) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file) if row][1 if header else 0 :]

"""Unseen titles: which share of them is taken for a known role without asking anybody, and how many of those
are right.

Shares are of all titles that were asked, those far from every role among them; a title counts as right in
every role that lists it. Each title is asked alone, as when one candidate comes in. Asked together, as a file
of candidates is, some join a role that an earlier title makes instead, so that is measured too.

Words, weights and thresholds may be derived from the half of the roles called "learn" only; "check" is what
counts. Beside what the app does with its thresholds stands what any threshold could reach: the largest share
that is still right as often as is said, by our likelihood and by plain cosine; and the share whose right role
is among the neighbours, which nobody who chooses among them can exceed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from evaluate.score import Score
from thresher.apps.roles.app import app
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.nearness import nearness_of
from thresher.apps.roles.service.resolve import resolve
from thresher.apps.roles.settings import SETTINGS
from thresher.apps.roles.store.roles import add_role
from thresher.config.settings import Catalogue, Settings
from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of, title_key
from thresher.hiring.title.likeness import LOOKED_AT, Nearness, choose
from thresher.runtime import open_store
from thresher.vectors.embedder import Embedder
from thresher.vectors.nearest import Index

LEAST = nearness_of(Settings((), Catalogue({"roles": SETTINGS})))  # as the app has it by default
PLAIN = 0.9  # cosine of the titles as they are written
MIN_SHARE, MIN_PRECISION = 30, 95
PRECISIONS = (0.90, 0.93, 0.95, 0.97)
HALVES = ("learn", "check")

Named = tuple[str, str]  # the code of a role, and a name of it


@dataclass(frozen=True, slots=True)
class Guess:
    """A title is taken for a role, with a confidence that only orders guesses, rightly or not."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What is made of a title: by the likelihood of its likeliest role and by plain cosine (None: no role at
    all), by the app, asked alone and together with all others; and whether the right role is among its
    neighbours.
    """

    title: str
    half: str
    likely: Guess | None
    plain: Guess
    taken: bool
    together: bool | None
    shown: bool


def unseen(
    of: str, known: Sequence[Named], titles: Sequence[Named], listed: Sequence[Named], embedder: Embedder
) -> list[Score]:
    """The scores of both halves. `listed` is everything that a role is called."""
    found = answers(known, titles, listed, embedder)
    return [
        score for half in HALVES for score in _scores(of, half, [one for one in found if one.half == half])
    ]


def half_of(code: str) -> str:
    """Which half a role belongs to: by its code, so that its titles stay together."""
    return HALVES[int(sha256(code.encode()).hexdigest()[:8], 16) % 2]


def share_at(guesses: Iterable[Guess], asked: int, precision: float) -> float:
    """The largest share of the titles that one threshold takes with at least this precision; 0 if none does.

    Guesses of one confidence are taken all or none.
    """
    best = taken = right = 0
    ordered = sorted(guesses, key=lambda one: -one.confidence)
    for _, some in groupby(ordered, key=lambda one: one.confidence):
        group = list(some)
        taken += len(group)
        right += sum(one.right for one in group)
        if right >= precision * taken:
            best = taken
    return best / max(1, asked)


def answers(
    known: Sequence[Named],
    titles: Sequence[Named],
    listed: Sequence[Named],
    embedder: Embedder,
    least: Nearness = LEAST,
) -> list[Answer]:
    right: dict[str, set[str]] = defaultdict(set)
    for code, title in listed:
        right[title_key(title)].add(code)
    codes = {code for code, _ in known}
    asked = [(code, title) for code, title in titles if code in codes]
    names = [title for _, title in asked]
    return [
        _answer(title, half_of(code), right[title_key(title)], near, plain, together, least)
        for (code, title), near, plain, together in zip(
            asked,
            _neighbours(known, names, embedder),
            _by_cosine(known, names, embedder),
            _by_app(known, names, embedder),
            strict=True,
        )
    ]


def _answer(
    title: str,
    half: str,
    right: set[str],
    near: Sequence[tuple[str, Neighbour]],
    plain: tuple[str, float],
    together: str | None,
    least: Nearness,
) -> Answer:
    codes = {role.id: code for code, role in near}
    # Without a threshold for the likelihood the choice is the same, and all of them can be put in order.
    chosen = choose(core_of(title), [role for _, role in near], Nearness(least.same, least.other, 0.0))
    return Answer(
        title,
        half,
        Guess(chosen.chance, codes[chosen.role.id] in right) if chosen.role else None,
        Guess(plain[1], plain[0] in right),
        chosen.role is not None and chosen.chance >= least.sure,
        together in right if together is not None else None,
        any(code in right for code, _ in near),
    )


def _neighbours(
    known: Sequence[Named], titles: Sequence[str], embedder: Embedder
) -> list[list[tuple[str, Neighbour]]]:
    """The roles nearest to the core of each title, as the app finds them: of two with one core the first."""
    roles = {core: (code, name) for code, name in reversed(known) if (core := core_of(name))}
    index = Index(list(roles), embedder.embed(list(roles)))
    return [
        [
            (roles[one.key][0], Neighbour(at, roles[one.key][1], one.score, embedder.meaning))
            for at, one in enumerate(found, 1)
        ]
        for found in index.nearest_each(embedder.embed([core_of(title) for title in titles]), LOOKED_AT)
    ]


def _by_cosine(known: Sequence[Named], titles: Sequence[str], embedder: Embedder) -> list[tuple[str, float]]:
    index = Index([code for code, _ in known], embedder.embed([name for _, name in known]))
    return [(near[0].key, near[0].score) for near in index.nearest_each(embedder.embed(titles), 1)]


def _by_app(known: Sequence[Named], titles: Sequence[str], embedder: Embedder) -> list[str | None]:
    """The role that each title is merged into without asking anybody, all of them asked together."""
    store = open_store("sqlite:///:memory:", apps=[app])
    try:
        with store.write() as session:
            now, demand = store.backend.now(session), Demand.of(store.settings)
            roles = {
                add_role(session, name, title_key(name), now=now, demand=demand): code for code, name in known
            }
        found = resolve(store, titles, create=False, models=False, embedder=embedder)
        return [roles.get(each.role_id or 0) for each in found]
    finally:
        store.close()


def _scores(of: str, half: str, some: Sequence[Answer]) -> list[Score]:
    aimed, asked = half == "check", len(some)
    likely = [one.likely for one in some if one.likely is not None]
    plain = [one.plain for one in some]
    taken = [one.likely.right for one in some if one.likely is not None and one.taken]
    by_cosine = [one.right for one in plain if one.confidence >= PLAIN]
    together = [one.together for one in some if one.together is not None]
    wrong = tuple(one.title for one in some if one.taken and one.likely and not one.likely.right)
    return [
        _share(f"{of}{half}: unseen titles taken", len(taken), asked, MIN_SHARE if aimed else None),
        _share(
            f"{of}{half}: right among those taken",
            sum(taken),
            len(taken),
            MIN_PRECISION if aimed else None,
            () if aimed else wrong,
        ),
        _share(f"{of}{half}: taken, all asked together", len(together), asked),
        _share(f"{of}{half}: right of those, all asked together", sum(together), len(together)),
        _share(f"{of}{half}: taken by cosine {PLAIN:g}", len(by_cosine), asked),
        _share(f"{of}{half}: right among those by cosine {PLAIN:g}", sum(by_cosine), len(by_cosine)),
        *_curve(f"{of}{half}: most at {{:.0%}} right, by likelihood", likely, asked),
        *_curve(f"{of}{half}: most at {{:.0%}} right, by cosine", plain, asked),
        _share(
            f"{of}{half}: upper bound, right role among {LOOKED_AT} nearest",
            sum(one.shown for one in some),
            asked,
        ),
    ]


def _curve(what: str, guesses: Sequence[Guess], asked: int) -> list[Score]:
    return [
        Score("titles", what.format(each), 100 * share_at(guesses, asked, each), asked, unit="%")
        for each in PRECISIONS
    ]


def _share(what: str, part: int, whole: int, aim: float | None = None, misses: tuple[str, ...] = ()) -> Score:
    return Score("titles", what, 100 * part / max(1, whole), whole, aim, unit="%", misses=misses)

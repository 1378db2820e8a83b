"""A million pairs at once are the same pairs as one at a time: every number of the one is that of the
other."""

import tracemalloc
from array import array
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.roles.people import USUAL, offer, seeker
from tests.harness.ours import OURS
from thresher.apps.roles.matching import matched
from thresher.apps.roles.matching.grid import grid, meetings
from thresher.apps.roles.matching.locations import Site
from thresher.apps.roles.matching.matched import Side, choose
from thresher.apps.roles.matching.offer import Asked, Offer
from thresher.apps.roles.matching.parts import explain_pair, score_pair
from thresher.apps.roles.matching.points import Points, points_of
from thresher.apps.roles.matching.seeker import Seeker
from thresher.hiring.opening import Workplace

NAMES = (
    "python",
    "java",
    "javascript",
    "kubernetes",
    "kubernets",
    "communication",
    "comunication",
    "comunicatoin",
    "c",
    "c++",
    "oauth1",
    "oauth2",
    "patient care",
    "patientcare",
    "patent care",
)
CITIES, STATES, COUNTRIES = ("", "austin", "houston", "berlin"), ("", "TX", "BE"), ("", "US", "DE")
SITES = st.builds(Site, st.sampled_from(CITIES), st.sampled_from(STATES), st.sampled_from(COUNTRIES))
NUMBERS = st.none() | st.sampled_from((0.0, 1.0, 2.5, 3.0, 5.0, 9.0, 20.0))
MONEY = st.none() | st.integers(1, 200)
# Eighths add up without a rest in any order, so that here the nearness has to be the same to the last digit.
VECTORS = st.none() | st.lists(st.integers(-4, 4), min_size=3, max_size=3).map(
    lambda row: array("f", [each / 8 for each in row]).tobytes()
)
WORDS = st.lists(st.sampled_from(NAMES), max_size=5, unique=True)
SEEKERS = st.builds(
    Seeker,
    st.just(0),
    WORDS.map(lambda words: {word: word for word in words}),
    NUMBERS,
    st.lists(SITES, max_size=3).map(tuple),
    st.sampled_from((None, True, False)),
    MONEY,
    st.sampled_from((None, "USD", "EUR")),
    st.just(""),
)
OFFERS = st.builds(
    Offer,
    id=st.just(0),
    skills=WORDS.map(lambda words: tuple(Asked(word, word) for word in words)),
    low=NUMBERS,
    high=NUMBERS,
    sites=st.lists(SITES, max_size=3).map(tuple),
    workplace=st.sampled_from((None, *Workplace)),
    remote_in=st.frozensets(st.sampled_from(("US", "DE")), max_size=2),
    pay_low=MONEY,
    pay_high=MONEY,
    currency=st.sampled_from((None, "USD", "EUR")),
)


def few(some: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(some, VECTORS), min_size=1, max_size=4)


MADE_UP = st.text("abcde", min_size=4, max_size=9)


@st.composite
def numbers(draw: st.DrawFn) -> Points:
    """Any settings that a person may choose."""
    return points_of(lambda name: _drawn(draw, name) if draw(st.booleans()) else OURS[name].default)


def _drawn(draw: st.DrawFn, name: str) -> Any:
    known = OURS[name]
    if isinstance(known.default, int):
        return draw(st.integers(int(known.low), min(int(known.high), 200)))
    return draw(
        st.floats(known.low, min(known.high, 200), allow_nan=False).map(lambda number: round(number, 3))
    )


@given(few(SEEKERS), few(OFFERS), numbers())
def test_the_grid_says_what_each_pair_says(people: list[Any], postings: list[Any], points: Points) -> None:
    seekers, own = [each for each, _ in people], [vector for _, vector in people]
    offers, theirs = [each for each, _ in postings], [vector for _, vector in postings]
    found = grid(seekers, offers, points, own, theirs)
    for row, one in enumerate(seekers):
        for column, other in enumerate(offers):
            score, parts = score_pair(one, other, points, own[row], theirs[column])
            assert [part[row, column] for part in found.parts] == [each.points for each in parts]
            assert found.score[row, column] == score
            assert explain_pair(one, other, points, own[row], theirs[column]).score == score


def test_without_numpy_the_same_matches_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    seekers = [
        seeker(at, skills=("Python", "SQL")[: at % 3], experience_years=at % 7, locations=("Austin, TX",))
        for at in range(1, 9)
    ]
    said = {"skills": ["Python", "Django"], "location": "Austin, TX"}
    offers = [offer(at, experience={"low": at % 5, "high": None}, **said) for at in range(20, 31)]
    few = points_of(lambda name: 3 if name == "roles.match.best" else OURS[name].default)
    vectors = [array("f", [at / 16, 0.5, -at / 16]).tobytes() if at % 3 else None for at in range(11)]
    sides = Side(vectors[:8], vectors)
    quick = choose(seekers, offers, few, sides)
    monkeypatch.setattr(matched, "has_numpy", lambda: False)
    assert choose(seekers, offers, few, sides) == quick
    assert len(quick) == 3 * len([each for each in seekers if any(row[0] == each.id for row in quick)])


def test_of_equal_scores_the_first_postings_are_kept() -> None:
    few = points_of(lambda name: 2 if name == "roles.match.best" else OURS[name].default)
    rows = choose([seeker(1, skills=("Python",))], [offer(at, skills=["Python"]) for at in (9, 4, 7)], few)
    assert [row[1] for row in rows] == [4, 7]


def test_pairs_below_the_threshold_are_not_kept() -> None:
    far = offer(2, skills=["Go"], experience={"low": 9, "high": None})
    assert choose([seeker(1, skills=("Java",), experience_years=0)], [far], USUAL) == []


@pytest.mark.promise(18)
def test_many_candidates_are_scored_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matched, "BLOCK", 10)
    seekers = [seeker(at, skills=("Python",)) for at in range(1, 30)]
    vectors = [array("f", [at / 32, 0]).tobytes() for at in range(29)]
    offers = [offer(at, skills=["Python"]) for at in range(40, 44)]
    small = choose(seekers, offers, USUAL, Side(vectors, vectors[:4]))
    monkeypatch.setattr(matched, "BLOCK", 1_000_000)
    assert small == choose(seekers, offers, USUAL, Side(vectors, vectors[:4]))
    assert len(small) == 29 * 4


@pytest.mark.promise(18)
def test_the_memory_of_a_matching_does_not_grow_with_the_number_of_candidates() -> None:
    strict = points_of(lambda name: 99.0 if name == "roles.match.store" else OURS[name].default)
    seekers, offers = (
        [seeker(at, skills=("Python",)) for at in range(1_000)],
        [offer(at, skills=["Python"]) for at in range(500)],
    )
    peaks = [_peak(lambda some=some: choose(some, offers, strict)) for some in (seekers, seekers * 4)]
    assert peaks[1] < 1.2 * peaks[0]


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.promise(18)
def test_a_flood_of_made_up_skills_costs_a_bounded_number_of_comparisons() -> None:
    asked = {f"abcdefgh{at:05d}": at for at in range(2_000)}
    own = [f"abcdefgi{at:05d}" for at in range(50)]
    found = meetings([*own, "abcdefgh00007"], asked, 0.85, most=100)
    assert found["abcdefgh00007"] == [7], "what is spelled the same is always met"
    assert len(found) <= 2
    assert len(meetings(own, asked, 0.85)) == 50


@given(st.lists(MADE_UP, max_size=8), st.lists(MADE_UP, max_size=8, unique=True))
def test_names_are_met_as_one_pair_at_a_time_would_meet_them(own: list[str], asked: list[str]) -> None:
    numbered = {name: at for at, name in enumerate(asked)}
    found = meetings(own, numbered, 0.85)
    for name in own:
        met = [at for other, at in numbered.items() if _meets(name, other)]
        assert sorted(found.get(name, [])) == met


def _meets(name: str, other: str) -> bool:
    own, theirs = Seeker(1, {name: name}, None, (), None, None, None, ""), Offer(2, (Asked(other, other),))
    return bool(explain_pair(own, theirs, USUAL).matched)

"""What is said of unseen titles: shares of all of them, and what the app itself would do."""

from collections.abc import Sequence

import pytest
from evaluate.unseen import LEAST, MIN_PRECISION, MIN_SHARE, Guess, answers, half_of, share_at, unseen
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.roles.app import app
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service.resolve import resolve
from thresher.apps.roles.store.roles import add_role
from thresher.hiring.title.core import title_key
from thresher.runtime import open_store
from thresher.vectors.lexical import Lexical
from thresher.vectors.matrix import Matrix


class LettersAsMeaning:
    """Vectors of letters that are trusted as those of a model are, so that the likelihood decides."""

    name, version, dims, meaning, sentence = "letters-as-meaning", "1", Lexical().dims, True, "for tests"

    def embed(self, texts: Sequence[str]) -> Matrix:
        return Lexical().embed(texts)


ROLES = (
    "Pharmacist",
    "Sewing Machine Operator",
    "Wind Energy Engineer",
    "Jewellery Designer",
    "Java Developer",
    "Dental Assistant",
)
TITLES = (
    ("Pharmacist", "Pharmacists"),
    ("Pharmacist", "Apothecary"),
    ("Sewing Machine Operator", "Sewing Machine Worker"),
    ("Sewing Machine Operator", "Industrial Sewing Machine Operator"),
    ("Wind Energy Engineer", "Wind Energy Engineering Consultant"),
    ("Jewellery Designer", "Jewelry Designer"),
    ("Java Developer", "JavaScript Developer"),
    ("Dental Assistant", "Dentist"),
)
KNOWN = [(name, name) for name in ROLES]


@pytest.mark.parametrize(
    ("guesses", "precision", "share"),
    [
        ([], 0.9, 0.0),
        ([(0.9, True), (0.8, True)], 0.95, 0.2),
        # one wrong guess in front does not hide the right ones behind it
        ([(0.9, False), (0.8, True), (0.7, True), (0.6, True)], 0.75, 0.4),
        ([(0.9, True), (0.8, False), (0.7, True)], 1.0, 0.1),
        # no threshold parts guesses of one confidence
        ([(0.9, True), (0.9, False)], 0.95, 0.0),
        ([(0.9, False)], 0.9, 0.0),
    ],
)
def test_a_share_is_the_largest_that_one_threshold_takes_at_a_precision(
    guesses: list[tuple[float, bool]], precision: float, share: float
):
    some = [Guess(*each) for each in guesses]
    assert share_at(some, 10, precision) == pytest.approx(share)
    assert share_at(reversed(some), 10, precision) == pytest.approx(share)


@given(st.lists(st.builds(Guess, st.sampled_from((0.1, 0.5, 0.9)), st.booleans()), max_size=12))
def test_a_higher_precision_never_takes_more(guesses: list[Guess]):
    shares = [share_at(guesses, 20, each) for each in (0.0, 0.5, 0.9, 1.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(len(guesses) / 20)


def test_a_title_asked_alone_is_taken_as_the_app_takes_it():
    found = answers(KNOWN, TITLES, [*TITLES, *KNOWN], LettersAsMeaning())
    assert [one.taken for one in found] == [_app_takes(title) for _, title in TITLES]
    assert {one.taken for one in found} == {True, False}


def _app_takes(title: str) -> bool:
    store = open_store("sqlite:///:memory:", apps=[app])
    try:
        with store.write() as session:
            now, demand = store.backend.now(session), Demand.of(store.settings)
            for name in ROLES:
                add_role(session, name, title_key(name), now=now, demand=demand)
        (found,) = resolve(store, [title], create=False, models=False, embedder=LettersAsMeaning())
        return found.role_id is not None
    finally:
        store.close()


def test_shares_are_of_all_titles_and_only_the_half_for_checking_has_aims():
    found = {score.name: score for score in unseen("", KNOWN, TITLES, [*TITLES, *KNOWN], Lexical())}
    for half in ("learn", "check"):
        asked = sum(half_of(code) == half for code, _ in TITLES)
        assert asked, "the roles of this test lie in both halves"
        taken, right = found[f"{half}: unseen titles taken"], found[f"{half}: right among those taken"]
        assert taken.cases == asked
        assert right.cases == round(taken.value * asked / 100)
        aims = (MIN_SHARE, MIN_PRECISION) if half == "check" else (None, None)
        assert (taken.aim, right.aim) == aims


def test_a_perfect_choice_can_take_no_title_whose_role_is_not_among_the_neighbours():
    many = [(f"Role {at} Keeper", f"Role {at} Keeper") for at in range(30)]
    listed = [("Zebra Vet", "Zebra Vet"), ("Zebra Vet", "Role Keeper"), *many]
    (found,) = answers([("Zebra Vet", "Zebra Vet"), *many], [("Zebra Vet", "Role Keeper")], listed, Lexical())
    assert not found.shown


def test_what_is_taken_is_what_reaches_the_threshold_of_the_app():
    found = answers(KNOWN, TITLES, [*TITLES, *KNOWN], LettersAsMeaning())
    assert all(one.taken == (one.likely is not None and one.likely.confidence >= LEAST.sure) for one in found)

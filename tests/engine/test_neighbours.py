"""Texts as points, in the store: the same neighbours on every database, with the weights and without."""

import pytest

from thresher.engine.neighbours import BATCH, Neighbours
from thresher.store import vectors
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder, open_embedder, open_model
from thresher.vectors.lexical import Lexical

TITLES = {
    "py": "Python Developer", "java": "Java Developer", "cook": "Pastry Chef", "nurse": "Registered Nurse",
    "ml": "Machine Learning Engineer",
}  # fmt: skip


@pytest.fixture(scope="module", params=["model", "lexical"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return open_model() if request.param == "model" else Lexical()


@pytest.fixture
def roles(store: Store, embedder: Embedder) -> Neighbours:
    return Neighbours(store, embedder, "role")


def test_the_nearest_is_the_one_that_a_person_would_name(roles: Neighbours):
    assert roles.add(TITLES) == len(TITLES)
    assert [near.key for near in roles.nearest("Senior Python Developer", 2)] == ["py", "java"]
    assert roles.nearest("Pastry Chef", 1)[0].score == pytest.approx(1, abs=1e-5)


def test_what_is_known_is_not_embedded_again_and_what_is_forgotten_is(roles: Neighbours):
    roles.add(TITLES)
    assert roles.add({**TITLES, "go": "Go Developer"}) == 1
    roles.forget(["py", "go"])
    assert roles.nearest("Python Developer", 1)[0].key != "py"
    assert roles.add(TITLES) == 1
    assert roles.nearest("Python Developer", 1)[0].key == "py"


def test_a_second_worker_sees_what_the_first_has_added(roles: Neighbours, store: Store, embedder: Embedder):
    other = Neighbours(store, embedder, "role")
    assert other.nearest("Python Developer", 1) == []
    roles.add(TITLES)
    assert other.nearest("Python Developer", 1)[0].key == "py"


def test_kinds_and_models_do_not_mix(roles: Neighbours, store: Store, embedder: Embedder):
    roles.add(TITLES)
    assert Neighbours(store, embedder, "skill").nearest("Python", 3) == []
    assert vectors.count(store, embedder.name, "another version", "role") == 0


def test_more_texts_than_a_batch_are_all_there(store: Store):
    embedder = Lexical()  # by letters: with the weights it is the same code and takes seconds
    roles = Neighbours(store, embedder, "role")
    many = {f"k{number}": f"Title number {number}" for number in range(BATCH + 5)}
    assert roles.add(many) == len(many)
    assert vectors.count(store, embedder.name, embedder.version, "role") == len(many)


def test_the_embedder_of_a_machine_with_the_weights_knows_meanings():
    assert open_embedder().meaning

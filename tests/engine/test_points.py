"""Points of texts for a stage: computed once, kept in the store, and in the order that was asked for. On all
databases."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.engine.workshop import Workshop, one_stage
from tests.harness import tasks
from tests.harness.databases import Database
from thresher import Done, NewTask
from thresher.core.context import Context
from thresher.engine.points import points_now
from thresher.vectors.matrix import cosine, unpack


@pytest.fixture
def shop(database: Database) -> Iterator[Workshop]:
    made = Workshop(database)
    yield made
    made.close()


def asked(shop: Workshop, texts: Sequence[str], kind: str = "test") -> list[bytes | None]:
    """What a stage is given for these texts."""
    found: list[Any] = []

    def look(ctx: Context) -> Done:
        found.extend(ctx.wait(ctx.points(kind, texts)))
        return Done()

    (task,) = shop.drained(one_stage("look", look), NewTask("look"))
    assert shop.state(task) == "succeeded"
    return found


def test_a_stage_is_given_points_in_the_order_of_its_texts(shop: Workshop) -> None:
    nurse, again, empty, welder = asked(shop, ["Nurse", "Nurse", " ", "Welder"])
    assert nurse is not None
    assert welder is not None
    assert nurse == again
    assert empty is None
    left, right = unpack([nurse, welder], len(nurse) // 4)
    assert cosine(left, left) == pytest.approx(1, abs=1e-5)
    assert cosine(left, right) < 0.95


def test_a_text_is_computed_once_and_kept(shop: Workshop) -> None:
    first = asked(shop, ["Nurse", "Welder"])
    tasks.change(
        shop.store,
        "update vectors set body = :body where body = :old",
        body=b"\0" * len(first[0] or b""),
        old=first[0],
    )
    second = asked(shop, ["Welder", "Nurse"])
    assert second[0] == first[1]
    assert second[1] == b"\0" * len(first[0] or b""), "it is the one that is kept"


def test_a_person_who_asks_gets_the_same_points_and_leaves_nothing_behind(shop: Workshop) -> None:
    (kept,) = asked(shop, ["Nurse"])
    before = tasks.rows(shop.store, "select count(*) from vectors")
    assert points_now(shop.store, "test", ["Nurse", "", "Baker"])[:2] == [kept, None]
    assert tasks.rows(shop.store, "select count(*) from vectors") == before


def test_half_a_surrogate_pair_is_a_text_too(shop: Workshop) -> None:
    assert asked(shop, ["Nurse \ud800", "Nurse \ud800"])[0] is not None

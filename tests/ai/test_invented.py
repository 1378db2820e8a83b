"""Two hundred answers with invented values through the whole walk: none may come out verified."""

import random

import pytest

from tests.ai.scene import TABLE, TABLES, scene
from thresher.core.evidence import Material

WOODS = ("oak", "elm", "ash", "fir", "yew", "teak", "pine", "plum", "cherry", "walnut")
SHAPES = ("table", "chair", "bench", "desk", "shelf", "stool", "chest", "frame", "ladder", "crate")


class Shop:
    """Pages with true values, and lies that fit their schema and stand nowhere in them."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)

    def thing(self) -> dict[str, str]:
        wood, shape = self.draw.choice(WOODS), self.draw.choice(SHAPES)
        return {
            "title": f"{wood.title()} {shape} {self.draw.randint(100, 999)}",
            "price": f"${self.draw.randint(20, 900)}.00",
            "wood": wood,
        }

    def page(self, things: list[dict[str, str]]) -> str:
        return "# Furniture\n\n" + "\n".join(
            f"## {each['title']}\n\nWood: {each['wood']}\n\nPrice: {each['price']}\n" for each in things
        )

    def lie(self, thing: dict[str, str], page: str) -> tuple[dict[str, str], str]:
        """The thing with one value changed to something plausible that the page does not show."""
        while True:
            name, other = self.draw.choice(list(thing)), self.thing()
            if other[name].casefold() not in page.casefold():
                return {**thing, name: other[name]}, name


@pytest.mark.promise(14)
@pytest.mark.parametrize("seed", range(4))
def test_no_invented_value_of_a_single_thing_is_verified(seed: int):
    shop = Shop(seed)
    for _ in range(25):
        thing = shop.thing()
        page = shop.page([thing])
        said, name = shop.lie(thing, page)
        answer = scene(lambda call, said=said: said).ask(TABLE, page=Material(page))
        assert answer.value == said
        assert [found for found in said if not answer.evidence.verified(found)] == [name], page


@pytest.mark.promise(14)
@pytest.mark.parametrize("seed", range(4))
def test_no_invented_value_among_several_things_is_verified(seed: int):
    shop = Shop(100 + seed)
    for _ in range(25):
        things = list({each["title"]: each for each in (shop.thing() for _ in range(4))}.values())
        page = shop.page(things)
        liar = shop.draw.randrange(len(things))
        lied, name = shop.lie(things[liar], page)
        said = [lied if place == liar else each for place, each in enumerate(things)]
        answer = scene(lambda call, said=said: {"items": said}).ask(TABLES, page=Material(page))
        assert answer.value["items"] == said
        assert f"{liar}.{name}" in list(answer.evidence.unverified()), page


@pytest.mark.promise(14)
def test_what_was_invented_stays_unverified_in_the_kept_answer():
    shop = Shop(7)
    thing = shop.thing()
    page = shop.page([thing])
    said, name = shop.lie(thing, page)
    on = scene(lambda call: said)
    on.ask(TABLE, page=page)
    (kept,) = on.budget.answers.values()
    assert not kept.evidence.verified(name)
    assert not on.ask(TABLE, page=page).evidence.verified(name)


@pytest.mark.promise(14)
@pytest.mark.parametrize("seed", range(3))
def test_values_that_two_neighbours_exchanged_are_not_verified(seed: int):
    shop = Shop(200 + seed)
    for _ in range(10):
        things = [shop.thing() for _ in range(4)]
        if len({each["title"] for each in things}) < 4 or len({each["price"] for each in things}) < 4:
            continue
        page = shop.page(things)
        first = shop.draw.randrange(3)
        said = [dict(each) for each in things]
        said[first]["price"], said[first + 1]["price"] = said[first + 1]["price"], said[first]["price"]
        answer = scene(lambda call, said=said: {"items": said}).ask(TABLES, page=Material(page))
        exchanged = {f"{first}.price", f"{first + 1}.price"}
        assert exchanged <= set(answer.evidence.unverified()), page


@pytest.mark.promise(14)
def test_true_values_are_verified_through_the_same_walk():
    """Otherwise the tests above would be passed by a walk that verifies nothing."""
    shop = Shop(300)
    for _ in range(20):
        things = list({each["title"]: each for each in (shop.thing() for _ in range(4))}.values())
        answer = scene(lambda call, said=things: {"items": said}).ask(
            TABLES, page=Material(shop.page(things))
        )
        assert list(answer.evidence.unverified()) == []

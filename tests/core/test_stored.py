"""Stored JSON as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson
import pytest
from hypothesis import given

from tests.core.stored_values import all_fit, said_of, whole
from thresher.core.stored import read, written


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Wheel:
    size: float = 0.0
    worn: bool = False


@dataclass(frozen=True, slots=True)
class Cart:
    key: str
    name: str | None = None
    load: int = 0
    colour: Colour | None = None
    wheel: Wheel | None = None
    wheels: tuple[Wheel, ...] = ()
    notes: tuple[str, ...] = ()
    prices: Mapping[str, int] = field(default_factory=dict)
    rest: Any = None


def cart(data: object) -> Cart:
    return read(Cart, data, key="cart")


def test_what_is_stored_is_read_by_the_names_of_the_fields() -> None:
    said = {"name": "hay", "load": 3, "colour": "red", "wheel": {"size": 2}, "wheels": [{"worn": True}]}
    assert cart(said) == Cart("cart", "hay", 3, Colour.RED, Wheel(2), (Wheel(worn=True),))


@pytest.mark.promise(20)
def test_what_makes_no_sense_is_left_out_and_the_rest_is_read() -> None:
    odd = {"name": 7, "load": "many", "colour": "loud", "wheel": "round", "notes": ["a", 1, None, "b"]}
    assert cart(odd | {"prices": {"a": 1, "b": True, "c": "2"}}) == Cart(
        "cart", notes=("a", "b"), prices={"a": 1}
    )


def test_a_field_of_another_release_is_passed_over() -> None:
    assert cart({"axle": "long", "load": 1}) == Cart("cart", load=1)


def test_a_yes_is_no_number() -> None:
    assert cart({"load": True, "wheel": {"size": False}}) == Cart("cart", wheel=Wheel())


def test_the_key_is_not_part_of_the_json() -> None:
    assert cart({"key": "another"}).key == "cart"
    assert "key" not in written(Cart("cart"))


@given(said_of(Cart))
def test_reading_never_raises_and_every_value_has_its_type(said: object) -> None:
    assert all_fit(cart(said))


@given(whole(Cart, key="cart"))
def test_what_was_written_is_read_back(value: Cart) -> None:
    assert cart(orjson.loads(orjson.dumps(written(value)))) == value

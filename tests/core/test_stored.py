"""Stored JSON as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stored_values import ANY_JSON, all_fit, said_of, stored_types, whole
from thresher.core.evidence import Evidence, Place, of_json
from thresher.core.stored import made, read, written


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


@dataclass(frozen=True, slots=True)
class Load:
    """What nobody said is not stored, and what a newer release said stays."""

    NOT_STORED: ClassVar = (None, "", ())

    key: str
    what: str = ""
    weight: float | None = None
    wheel: Wheel | None = None
    marks: tuple[str, ...] = ()
    fragile: bool | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)


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


@given(whole(Load, key="load"))
def test_what_was_written_in_part_is_read_back(value: Load) -> None:
    assert read(Load, orjson.loads(orjson.dumps(written(value))), key="load") == value


def test_what_nobody_said_is_not_stored_and_a_no_is() -> None:
    assert written(Load("load", weight=0, fragile=False)) == {"weight": 0, "fragile": False}


@pytest.mark.promise(1)
@given(said_of(Load), st.dictionaries(st.sampled_from(("axle", "key", "unknown", "what")), ANY_JSON))
def test_a_change_by_an_older_release_keeps_what_a_newer_one_stored(said: Any, newer: dict[str, Any]) -> None:
    before = (said if isinstance(said, dict) else {}) | newer
    after = written(replace(read(Load, before, key="load"), what="hay"))
    known = stored_types(Load)
    assert {name: value for name, value in after.items() if name not in known} == {
        name: value for name, value in before.items() if name not in known
    }
    assert after["what"] == "hay"


@pytest.mark.promise(1)
def test_evidence_with_members_of_a_newer_release_is_still_read() -> None:
    place = {"quote": "hay", "start": 3, "end": 6, "box": [1, 2]}
    assert of_json({"source": "h", "places": {"what": place}}) == Evidence({"what": Place("hay", 3, 6)}, "h")


def test_a_member_without_a_default_must_be_there() -> None:
    with pytest.raises(TypeError):
        made(Cart, {"load": 1, "axle": "long"})

"""The small parts: wording, parts of texts, patterns, shapes."""

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.core.schema import Field, Kind
from thresher.learning.affix import Affix, fit
from thresher.learning.learn import pattern
from thresher.learning.locator import expression
from thresher.learning.shape import ValueShape, look, odd_look, shape
from thresher.learning.wording import amount, number, says, squeezed


@pytest.mark.parametrize(
    ("one", "other"),
    [("A  b\n", "a B"), ("Brenn &amp; Sohn", "Brenn & Sohn"), ("13 – 15", "13 - 15"), ("it’s", "IT'S")],
)
def test_texts_are_the_same_whatever_their_spaces_capitals_and_entities(one: str, other: str) -> None:
    assert squeezed(one) == squeezed(other)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1,234", "1234"),
        ("1.234,50", "1234.50"),
        ("1,234.50", "1234.50"),
        ("12.5", "12.5"),
        ("12,5", "12.5"),
        ("1'000", "1000"),
        ("1.234.567", "1234567"),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, meant: str) -> None:
    assert amount(written) == Decimal(meant)


def test_a_text_with_two_numbers_says_no_number() -> None:
    assert number("3 of 5") is None
    assert says("In stock: 22", 22)
    assert not says("22 of 30", 22)


def test_contexts_are_whole_words() -> None:
    """`College` and `Co-ed` begin alike by chance; `Co` is no context."""
    assert fit(["Public College", "Private Co-ed"], [["Public"], ["Private"]]) is None


def test_contexts_hold_on_every_text() -> None:
    part = fit(["by Ann in Leeds", "by Bea in York"], [["Ann"], ["Bea"]])
    assert part == Affix("by ", " in ", start=True, end=False)
    assert part.take("by Cid in Hull") == ["Cid"]
    assert part.take("from Cid in Hull") == []


@pytest.mark.parametrize(
    "values",
    [
        ["(765) 288-8681", "(478) 934-6221"],
        ["12-2-2010", "11-28-2010"],
        ["Phone: 312-567-3000", "Phone: 413-597-3131"],
    ],
)
def test_what_is_written_alike_has_a_pattern(values: list[str]) -> None:
    found = pattern(values)
    assert found is not None
    assert all(expression(found).fullmatch(value) for value in values)


@pytest.mark.parametrize("values", [["Oakforge", "Trueline"], ["3", "5"], ["a 1234", "b 1234"], []])
def test_words_and_small_numbers_have_none(values: list[str]) -> None:
    assert pattern(values) is None


@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
@example(["000²"])  # a figure to Unicode, and no decimal one
def test_a_pattern_finds_what_it_was_made_from(values: list[str]) -> None:
    found = pattern(values)
    if found is not None:
        assert all(expression(found).search(" ".join(value.split())) for value in values)


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("€24.90", ValueShape.PRICE),
        ("3 November 2010", ValueShape.DAY),
        ("13/17", ValueShape.FIGURES),
        ("www.acme.example", ValueShape.WEB),
        ("a897fe39", ValueShape.CODE),
        ("1416535034", ValueShape.FIGURES),
        ("Los Angeles, CA 90067", ValueShape.WORDS),
        ("f733e8c19d40ec2e", ValueShape.CODE),
        ("Oakforge", ValueShape.WORDS),
        ("", ValueShape.WORDS),
    ],
)
def test_a_text_has_a_look(text: str, looks: ValueShape) -> None:
    assert look(text) is looks


def test_a_name_may_be_a_number_but_no_price() -> None:
    assert odd_look("1984", frozenset({ValueShape.WORDS})) is None
    assert odd_look("€19.84", frozenset({ValueShape.WORDS})) is ValueShape.PRICE
    assert odd_look("Sold out", frozenset({ValueShape.CODE})) is ValueShape.WORDS


def test_a_shape_says_what_is_odd() -> None:
    price = shape(Field("price", Kind.MONEY), ["€24.90", "€31.50"], pages=2, seen=2)
    assert price.complaint("€99.00") is None
    assert price.complaint("Sold out") is not None
    assert price.out_of_range("€9,000,000.00") is not None
    town = shape(Field("town"), ["Leeds", "York LS1"], pages=2, seen=2)
    assert town.complaint("Hull") is None
    assert town.complaint("x" * 500) is not None

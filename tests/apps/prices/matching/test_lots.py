"""How many a listing offers, and the price of one; or why there is none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.matching.judging import MORGAN, coin, item, judged, listing, product
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import PriceType

PHONE = product("iPhone 13", brand="Apple")


@pytest.mark.parametrize(
    ("title", "quantity"),
    [
        ("1921-D Morgan Dollar", 1),
        ("Lot of 5 1921-D Morgan Dollars", 5),
        ("lot of five 1921-D Morgan Dollars", 5),
        ("1921-D Morgan Dollar (Lot of 2)", 2),
        ("A lot of (3) 1921-D Morgan Dollars", 3),
        ("Set of 3 1921-D Morgan Dollars", 3),
        ("5x 1921-D Morgan Dollar", 5),
        ("5 x 1921-D Morgan Dollar", 5),
        ("1921-D Morgan Dollar x5", 5),
        ("1921-D Morgan Dollar x 5", 5),
        ("Pair of 1921-D Morgan Dollars", 2),
        ("Roll of 20 1921-D Morgan Dollars", 20),
        ("3 rolls of 20 1921-D Morgan Dollars", 60),
        ("Half roll (10) 1921-D Morgan Dollars", 10),
        ("dozen 1921-D Morgan Dollars", 12),
        ("half dozen 1921-D Morgan Dollars", 6),
        ("(5) 1921-D Morgan Silver Dollars", 5),
        ("5 1921-D Morgan Dollars", 5),
        ("Two 1921-D Morgan Dollars", 2),
        ("1921-D Morgan Dollars (2)", 2),
        ("1921-D Morgan Dollar, 2 coins", 2),
        ("1921-D Morgan Dollar 2-pack", 2),
        ("1921-D Morgan Dollar 3 pcs", 3),
        ("3er Set Morgan Dollar 1921-D", 3),
        ("10 Stück Morgan Dollar 1921-D", 10),
        ("Lot de 4 Morgan Dollar 1921-D", 4),
        ("Lote de 4 Morgan Dollar 1921-D", 4),
        # Not a number of things:
        ("Lot 45: 1921-D Morgan Dollar", 1),
        ("1921-D Morgan Dollar lot #45", 1),
        ("1921-D Morgan Dollar lots of luster", 1),
        ("1921-D Morgan Dollar a lot of eye appeal", 1),
        ("1921-D Morgan Dollar from an old coin collection", 1),
        ("1921-D Morgan Dollar 26.73 g 38 mm", 1),
        ("1921-D Morgan Dollar 1 coin", 1),
        ("1921-D Morgan Dollar #5 of my sales", 1),
        ("Charlotte's 1921-D Morgan Dollar", 1),
        ("Carroll's 1921-D Morgan Dollar", 1),
        ("1921-D Morgan Dollar not a lot", 1),
        ("1921-D Morgan Dollar Qty 1", 1),
    ],
)
def test_a_title_says_how_many(title: str, quantity: int) -> None:
    found = judged(MORGAN, title)
    assert (found.counts, found.reason) == (True, None)
    assert (found.quantity, found.unit) == (quantity, 6_000 // quantity)


@pytest.mark.parametrize(
    "title",
    [
        "1921-D Morgan Dollar lot",
        "1921-D Morgan Dollar roll",
        "Bag of 1921-D Morgan Dollar",
        "Lot of 1921 Morgan Dollars",
        "1921-D Morgan Dollar bundle",
        "1921-D Morgan Dollars",
        "Mixed lot of 5 1921-D Morgan Dollars",
        "Random 1921-D Morgan Dollar",
        "Lot of 5 different 1921-D Morgan Dollars",
        "1921-D Morgan Dollar coin collection",
        "1921-D Morgan Dollar you pick",
        "Lot of 5 and lot of 10 1921-D Morgan Dollars",
        "Lot of 99999 1921-D Morgan Dollars",
        "Lot of 0 1921-D Morgan Dollars",
        "Konvolut Morgan Dollar 1921-D",
        "Lot of 5 1921-D Morgan Dollars, each",
        "1921-D Morgan Dollar - Qty 2",
        "1921-D Morgan Dollar, quantity: 5",
        "1921-D Morgan Dollar Menge 3",
    ],
)
def test_a_lot_of_unknown_or_mixed_content_does_not_count(title: str) -> None:
    found = judged(MORGAN, title)
    assert not found.counts
    assert found.reason is not None
    assert found.unit == 6_000  # what it asks for is kept


@pytest.mark.parametrize(
    ("title", "quantity"),
    [
        ("2 x Apple iPhone 13", 2),
        ("Apple iPhone 13 2er-Pack", 2),
        ("Apple iPhone 13 5x optical zoom", 1),
        ("Apple iPhone 13 with 2 cables", 1),
    ],
)
def test_products_are_counted_too(title: str, quantity: int) -> None:
    assert judged(PHONE, title).quantity == quantity


def test_shoes_are_sold_in_pairs() -> None:
    shoes = product("Air Max 90", brand="Nike")
    assert judged(shoes, "Pair of Nike Air Max 90 shoes").quantity == 1
    speakers = product("LS50", brand="KEF")
    assert judged(speakers, "Pair of KEF LS50").quantity == 2


def test_an_item_that_is_a_set_is_no_lot() -> None:
    wanted = item("coin", name="1999 proof set", denomination="dollar", year="1999")
    assert judged(wanted, "1999 proof set dollar").quantity == 1
    assert judged(wanted, "Lot of 3 1999 proof set dollar").quantity == 3


@pytest.mark.parametrize(
    ("title", "quantity", "unit"),
    [
        ("AA battery 4-pack", 1, 6_000),
        ("AA battery 8-pack", 2, 3_000),
        ("AA battery 6-pack", 1, None),
        ("AA battery", 1, None),
    ],
)
def test_an_item_of_several_pieces_is_compared_by_its_pieces(
    title: str, quantity: int, unit: int | None
) -> None:
    wanted = item("product", name="Duracell AA", model="AA", brand="Duracell", variant="4-pack")
    found = judged(wanted, f"Duracell {title}", needed=0)
    assert found.quantity == quantity
    assert found.unit == unit if unit else not found.counts


@pytest.mark.parametrize(
    ("title", "said", "quantity"),
    [
        ("1921-D Morgan Dollar", 5, 5),
        ("Lot of 5 1921-D Morgan Dollars", 5, 5),
        ("Lot of 5 1921-D Morgan Dollars", 1, 5),
        ("1921-D Morgan Dollar lot", 4, 4),
        ("1921-D Morgan Dollar", 1, 1),
        ("1921-D Morgan Dollar", 0, 1),
        ("Lot of 5 1921-D Morgan Dollars", 4, None),
        ("Mixed lot 1921-D Morgan Dollar", 4, None),
    ],
)
def test_what_the_source_counts_and_what_the_title_says_must_agree(
    title: str, said: int, quantity: int | None
) -> None:
    found = judged(MORGAN, title, quantity=said)
    assert found.counts is (quantity is not None)
    assert found.quantity == (quantity or 1)


@pytest.mark.parametrize(
    ("amount", "quantity", "unit"), [(100, 3, 33), (200, 3, 67), (5, 2, 3), (1, 2, 1), (1, 3, 0)]
)
def test_the_price_of_one_is_rounded_half_up(amount: int, quantity: int, unit: int) -> None:
    assert judged(MORGAN, f"Lot of {quantity} 1921-D Morgan Dollars", amount=amount).unit == unit


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"amount": None}, "no price could be read"),
        ({"amount": None, "doubts": ("several numbers and no currency",)}, "several numbers and no currency"),
        ({"currency": None}, "the currency of the price is not known"),
        ({"amount": 0}, "a price of 0 is no price"),
        ({"amount": -5}, "a price of 0 is no price"),
        ({"amount": None, "was": 9_000}, "no price could be read"),  # the struck price is not it
        ({"amount": None, "shipping": 500}, "no price could be read"),
    ],
)
def test_without_a_price_there_is_no_unit(said: dict[str, Any], reason: str) -> None:
    found = judged(MORGAN, **said)
    assert (found.unit, found.counts, found.reason) == (None, False, reason)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"high": 9_000}, "the price is a range, and it does not say which variant costs what"),
        ({"per": "oz"}, "the price is per oz"),
        ({"per": "month"}, "the price is per month"),
        ({"price_type": PriceType.ASK, "available": False}, "it is not available"),
    ],
)
def test_a_price_that_is_not_certain_is_kept_and_does_not_count(said: dict[str, Any], reason: str) -> None:
    found = judged(MORGAN, **said)
    assert (found.unit, found.counts, found.reason) == (6_000, False, reason)


def test_what_was_sold_is_no_longer_available_and_counts() -> None:
    assert judged(MORGAN, available=False).counts
    assert judged(MORGAN, available=False, price_type=PriceType.ASK).reason == "it is not available"
    assert judged(MORGAN, high=6_000).counts  # a range of one


def test_a_doubt_about_another_field_leaves_the_price_as_it_is() -> None:
    found = judged(MORGAN, doubts=("shipping is in EUR, the price in USD",))
    assert (found.counts, found.unit) == (True, 6_000)


def test_shipping_and_what_it_cost_before_are_not_part_of_the_price() -> None:
    assert judged(MORGAN, shipping=500, was=9_000).unit == 6_000


def test_a_price_for_each_of_several_is_the_price_of_one() -> None:
    found = judged(MORGAN, "Lot of 5 1921-D Morgan Dollars", per="each")
    assert (found.unit, found.quantity, found.counts) == (6_000, 1, True)
    assert judged(MORGAN, "1921-D Morgan Dollar je Stück").unit == 6_000


@given(st.integers(2, 500), st.integers(1, 10**9))
def test_a_lot_costs_what_its_pieces_cost(number: int, amount: int) -> None:
    title = f"Lot of {number} 1921-D Morgan Dollars"
    found = judge(listing(title, amount=amount), MORGAN, (), 0)
    assert found.unit is not None
    assert abs(found.unit * number - amount) * 2 <= number


def test_the_quote_that_decided_is_among_the_signals() -> None:
    found = judged(coin(), "Lot of 5 1921 dollars")
    assert "Lot of 5" in [each.quote for each in found.signals]

"""Whose value is it: answers with many things, and pages that keep them apart in different ways."""

from typing import Any

import pytest

from thresher.core.evidence import Evidence, Material
from thresher.core.schema import Field, Kind, Schema
from thresher.evidence.verify import doubts, verify

LAMP, HAT, CUP = (
    ("Red lamp", "$5.00", "Berlin"),
    ("Blue hat", "$7.50", "Paris"),
    ("Green cup", "$9.10", "Rome"),
)
GOODS = (LAMP, HAT, CUP)

OFFERS = Schema(
    "offer",
    (Field("title", required=True), Field("price", Kind.MONEY, required=True), Field("place")),
    many=True,
)
OFFER = Schema("offer", OFFERS.fields)


def _item(title: str | None, price: str | None, place: str | None = None) -> dict[str, Any]:
    return {"title": title, "price": price, "place": place}


def _verified(text: str, *items: dict[str, Any], data: Any = None) -> set[str]:
    found = verify(OFFERS, {"items": list(items)}, Material(text, data))
    return {name for name, place in found.places.items() if place is not None}


def _headed() -> str:
    return "# Shop\n\nAcme Ltd\n\n" + "".join(
        f"## {title}\n\nnow in {place}\n\n{price}\n\n" for title, price, place in GOODS
    )


@pytest.mark.promise(14)
def test_a_value_of_a_thing_that_the_answer_leaves_out_is_not_ours():
    assert _verified(_headed(), _item("Red lamp", "$7.50")) == {"0.title"}
    assert _verified(_headed(), _item("Red lamp", "$9.10"), _item("Green cup", None)) == {
        "0.title",
        "1.title",
    }


@pytest.mark.promise(14)
def test_a_row_that_the_answer_leaves_out_is_not_ours():
    table = "| Price | Offer |\n|---|---|\n" + "".join(
        f"| {price} | {title} |\n" for title, price, _ in GOODS
    )
    assert _verified(table, _item("Red lamp", "$7.50"), _item("Green cup", "$9.10")) == {
        "0.title",
        "1.title",
        "1.price",
    }


@pytest.mark.promise(14)
def test_an_element_of_the_data_that_the_answer_leaves_out_is_not_ours():
    data = {"shop": "Acme Ltd", "list": [{"price": price, "name": title} for title, price, _ in GOODS]}
    assert _verified("", _item("Red lamp", "$7.50", "Acme Ltd"), data=data) == {"0.title", "0.place"}


def test_what_the_page_says_of_all_is_verified_for_each():
    assert _verified(
        _headed(), _item("Red lamp", "$5", "Acme Ltd"), _item("Blue hat", "$7.50", "Acme Ltd")
    ) == {
        "0.title",
        "0.price",
        "0.place",
        "1.title",
        "1.price",
        "1.place",
    }


def test_a_heading_goes_for_everything_under_it_and_nothing_else():
    text = "# Jobs\n\n## Berlin\n\n### Red lamp\n\n$5.00\n\n### Blue hat\n\n$7.50\n\n## Paris\n\n### Green cup\n\n$9.10\n"
    told = (
        _item("Red lamp", "$5", "Berlin"),
        _item("Blue hat", "$7.50", "Berlin"),
        _item("Green cup", "$9.10", "Paris"),
    )
    assert len(_verified(text, *told)) == 9
    wrong = (
        _item("Red lamp", "$5", "Berlin"),
        _item("Blue hat", "$7.50", "Paris"),
        _item("Green cup", "$9.10", "Berlin"),
    )
    assert not _verified(text, *wrong) & {"1.place", "2.place"}


def test_things_with_the_same_title_each_have_a_place_of_their_own():
    text = "".join(f"## Nurse\n\n{price}\n\n{place}\n\n" for _, price, place in GOODS)
    found = verify(
        OFFERS, {"items": [_item("Nurse", price, place) for _, price, place in GOODS]}, Material(text)
    )
    assert len({place.start for place in found.places.values() if place}) == 9


def test_two_variants_may_share_one_title():
    text = "## Shirt\n\nSmall $5.00\n\nLarge $7.50\n\n## Hat\n\n$9.10\n"
    assert len(_verified(text, _item("Shirt", "$5"), _item("Shirt", "$7.50"), _item("Hat", "$9.10"))) == 6


def test_the_order_of_the_answer_need_not_be_that_of_the_page():
    assert len(_verified(_headed(), *(_item(*each) for each in reversed(GOODS)))) == 9


def test_a_thing_whose_title_is_reworded_still_has_its_other_values():
    assert _verified(_headed(), _item(*LAMP), _item("A fine hat", "$7.50", "Paris"), _item(*CUP)) == {
        f"{at}.{name}" for at in range(3) for name in ("title", "price", "place")
    } - {"1.title"}


def test_of_several_places_the_one_near_the_rest_of_the_thing_is_taken():
    text = "Red lamp and more\n\n" + "filler " * 50 + "\n\nRed lamp\n\n$5.00\n"
    found = verify(OFFER, _item("Red lamp", "$5"), Material(text, hash="abc"))
    assert found.source == "abc"
    assert found.places["title"] is not None
    assert found.places["title"].start == text.rindex("Red lamp")


def test_lists_are_verified_one_by_one():
    schema = Schema("person", (Field("skills", many=True),))
    found = verify(schema, {"skills": ["Python", "Cobol", "SQL"]}, Material("- Python\n- SQL\n"))
    assert [found.verified(f"skills.{at}") for at in range(3)] == [True, False, True]
    assert list(found.unverified()) == ["skills.1"]


def test_what_is_not_said_needs_no_place():
    assert verify(OFFER, _item("Red lamp", None), Material("Red lamp")).places.keys() == {"title"}


def test_there_is_a_doubt_for_every_required_value_that_was_not_found():
    said = {"items": [_item("Red lamp", "$5", "Rome"), _item("Gold ring", "$7.50")]}
    found = verify(OFFERS, said, Material(_headed()))
    (doubt,) = doubts(OFFERS, said, found)
    assert doubt.startswith(
        "item 2: title is given as 'Gold ring', which is not in the page; give it exactly as the "
        "page writes it"
    )


def test_a_single_thing_is_doubted_without_a_number():
    said = _item("Gold ring", "$5")
    assert doubts(OFFER, said, Evidence())[0].startswith("title is given as 'Gold ring'")


def test_no_things_need_no_evidence():
    assert verify(OFFERS, {"items": []}, Material("text", {})).places == {}


def test_a_page_of_a_thousand_things_is_read_whole():
    items = [_item(f"Thing number {at}", f"${at}.00", f"Town {at % 7}") for at in range(1_000)]
    text = "".join(f"## {item['title']}\n\n{item['price']}\n\n{item['place']}\n\n" for item in items)
    assert not list(verify(OFFERS, {"items": items}, Material(text)).unverified())

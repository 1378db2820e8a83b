"""Putting parts together: nothing twice, nothing lost, every place where it was."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ai.scene import TABLE, TABLES
from thresher.ai.ask import complete, filled, merged
from thresher.core.evidence import Evidence, Place
from thresher.core.schema import Field, Schema

SKILLS = Schema(
    "posting", (Field("title", required=True), Field("skills", many=True), Field("level", judged=True))
)


def things(*titles: str, verified: bool = True, **more: Any) -> tuple[Any, Evidence]:
    items = [{"title": title, **more} for title in titles]
    place = Place("x", 1, 2) if verified else None
    return {"items": items}, Evidence(
        {f"{number}.{name}": place for number, item in enumerate(items) for name in item}
    )


def titles(value: Any) -> list[str]:
    return [item["title"] for item in value["items"]]


def test_things_of_all_parts_stand_in_the_order_of_the_page():
    value, evidence = merged(TABLES, [things("Oak", "Elm"), things(), things("Ash")], "h1")
    assert titles(value) == ["Oak", "Elm", "Ash"]
    assert (list(evidence.places), evidence.source) == (["0.title", "1.title", "2.title"], "h1")


def test_a_thing_seen_twice_stands_once_however_it_is_written():
    value, _ = merged(TABLES, [things("Oak  Table"), things("ＯＡＫ table", "Elm")])
    assert titles(value) == ["Oak  Table", "Elm"]


def test_of_two_the_one_with_more_verified_values_stays_where_the_first_stood():
    value, evidence = merged(TABLES, [things("Oak", "Elm", verified=False), things("oak", price="$5")])
    assert value["items"] == [{"title": "oak", "price": "$5"}, {"title": "Elm"}]
    assert [name for name in evidence.places if evidence.verified(name)] == ["0.title", "0.price"]


def test_without_a_key_only_things_that_say_the_same_are_the_same():
    found = [things("Oak", price="$5"), things("Oak", price="$6"), things("oak", price="$5")]
    value, _ = merged(replace(TABLES, key=()), found)
    assert [item["price"] for item in value["items"]] == ["$5", "$6"]


def test_things_without_a_key_of_their_own_are_not_all_one_thing():
    schema = replace(TABLES, key=("wood",))
    value, _ = merged(schema, [things("Oak"), things("Elm"), things("Oak")])
    assert titles(value) == ["Oak", "Elm"]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "B", "b", "c", "D"]), max_size=4), max_size=4))
def test_nothing_is_lost_and_nothing_stands_twice(parts: list[list[str]]):
    value, evidence = merged(TABLES, [things(*part) for part in parts])
    folded = [title.casefold() for title in titles(value)]
    assert len(set(folded)) == len(folded)
    assert set(folded) == {title.casefold() for part in parts for title in part}
    assert set(evidence.places) == {f"{number}.title" for number in range(len(folded))}


def test_every_field_takes_the_first_value_that_stands_in_the_page():
    found = [
        ({"title": "Guess", "price": None}, Evidence({"title": None})),
        ({"title": "Oak", "price": "$9"}, Evidence({"title": Place("Oak", 5, 8), "price": None})),
        (
            {"title": "Elm", "price": "$5"},
            Evidence({"title": Place("Elm", 9, 12), "price": Place("$5", 13, 15)}),
        ),
    ]
    value, evidence = filled(TABLE, found, "h1")
    assert value == {"title": "Oak", "price": "$5", "wood": None}
    assert evidence == Evidence({"title": Place("Oak", 5, 8), "price": Place("$5", 13, 15)}, "h1")


def test_a_value_that_stands_nowhere_is_better_than_none_and_stays_unverified():
    value, evidence = filled(TABLE, [({"title": "Guess"}, Evidence({"title": None}))])
    assert (value["title"], list(evidence.unverified())) == ("Guess", ["title"])


def test_a_list_is_taken_whole():
    first = {"title": "Cook", "skills": ["fish", "magic"], "level": "high"}
    second = {"title": None, "skills": ["soup"], "level": None}
    found = [
        (
            first,
            Evidence(
                {
                    "title": Place("Cook", 0, 4),
                    "skills.0": Place("fish", 5, 9),
                    "skills.1": None,
                    "level": None,
                }
            ),
        ),
        (second, Evidence({"skills.0": Place("soup", 20, 24)})),
    ]
    value, evidence = filled(SKILLS, found)
    assert value == {"title": "Cook", "skills": ["soup"], "level": "high"}
    assert evidence.places == {"title": Place("Cook", 0, 4), "skills.0": Place("soup", 20, 24), "level": None}
    assert complete(SKILLS, value, evidence), "an opinion stands nowhere, so nobody waits for it"


def test_a_thing_is_complete_when_no_other_part_can_add_anything():
    value, evidence = filled(TABLE, [({"title": "Oak"}, Evidence({"title": Place("Oak", 0, 3)}))])
    assert not complete(TABLE, value, evidence)

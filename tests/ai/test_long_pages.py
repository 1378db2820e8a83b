"""Pages that do not fit into one question."""

import json
import re
from dataclasses import replace

import pytest

from tests.ai.scene import TABLE, TABLES, Drawer, cut, scene
from thresher.ai.provider import ModelCall
from thresher.core.errors import BudgetExhausted, Malformed, TooLarge
from thresher.core.evidence import Material
from thresher.core.schema import Kind

WOODS = ("oak", "elm", "ash", "fir", "yew", "teak", "pine", "plum")
PROSE = "A table made by hand, with four legs, a drawer, and a top that was oiled three times and then left alone for a week."
ENTRIES = [f"## Table {wood}\n\n{PROSE}\n\nPrice: ${20 + place}.00\n" for place, wood in enumerate(WOODS)]
PAGE = "# Furniture\n\n" + "\n".join(ENTRIES)
SMALL = {"ai.part_size": 500}


def reader(call: ModelCall) -> str:
    """Reads what it is shown, and nothing else."""
    shown = call.turns[0].text
    found = re.findall(r"## (Table \w+)\n\n[^\n]*\n\nPrice: (\S+)", shown)
    return json.dumps({"items": [{"title": title, "price": price} for title, price in found]})


def test_every_thing_of_a_long_page_is_found_once_and_in_order():
    on = scene(reader, settings=SMALL)
    answer = on.ask(TABLES, page=Material(PAGE, hash="h1"))
    assert [item["title"] for item in answer.value["items"]] == [f"Table {wood}" for wood in WOODS]
    assert on.calls > 1
    assert (answer.usage.calls, answer.cost) == (on.calls, on.budget.spent)


@pytest.mark.promise(14)
def test_places_are_counted_in_the_whole_text():
    answer = scene(reader, settings=SMALL).ask(TABLES, page=PAGE)
    for number, item in enumerate(answer.value["items"]):
        for name, value in item.items():
            place = answer.evidence.places[f"{number}.{name}"]
            assert place is not None
            assert PAGE[place.start : place.end] == place.quote == value


def test_each_part_is_shown_under_its_headings():
    on = scene(reader, settings=SMALL)
    on.ask(TABLES, page=PAGE)
    assert all("Furniture" in call.turns[0].text for call in on.speaker.calls)
    assert all(len(call.turns[0].text) < 1_000 for call in on.speaker.calls)


@pytest.mark.promise(14)
def test_what_stands_in_another_part_was_not_read_there():
    """A model that answers every part with a thing of the last one has not read the first."""
    on = scene(
        lambda call: '{"items": [{"title": "Table plum", "wood": "plum"}]}',
        settings={**SMALL, "ai.repairs": 0},
    )
    answer = on.ask(TABLES, page=PAGE)
    assert len(answer.value["items"]) == 1
    place = answer.evidence.places["0.title"]
    assert place is not None
    assert place.start == PAGE.index("Table plum")


@pytest.mark.promise(14)
def test_what_a_heading_says_of_everything_below_it_is_found_there():
    def told(call: ModelCall) -> object:
        return {"items": [item | {"wood": "Furniture"} for item in json.loads(reader(call))["items"]]}

    answer = scene(told, settings=SMALL).ask(TABLES, page=PAGE)
    places = [answer.evidence.places[f"{number}.wood"] for number in range(1, len(WOODS))]
    assert all(place is not None and PAGE[place.start : place.end] == "Furniture" for place in places[2:])


@pytest.mark.promise(15)
def test_parts_that_were_paid_for_are_not_paid_for_again():
    on = scene(reader, settings=SMALL, budget=Drawer(refuses={2: BudgetExhausted("all gone")}))
    with pytest.raises(BudgetExhausted):
        on.ask(TABLES, page=PAGE)
    assert on.calls == 2
    on.budget.refuses = {}
    assert len(on.ask(TABLES, page=PAGE).value["items"]) == len(WOODS)
    calls = on.calls
    again = on.ask(TABLES, page=PAGE)
    assert (on.calls, again.cached) == (calls, True)
    assert calls == len({quote.question for quote in on.budget.quotes})


@pytest.mark.promise(14)
def test_a_part_kept_from_another_page_is_placed_anew():
    on = scene(reader, settings=SMALL)
    on.ask(TABLES, page=PAGE)
    longer = PAGE.replace("# Furniture\n", "# Furniture\n\nWelcome back, dear customer.\n", 1)
    answer = on.ask(TABLES, page=longer)
    for number, item in enumerate(answer.value["items"]):
        place = answer.evidence.places[f"{number}.title"]
        assert place is not None
        assert longer[place.start : place.end] == item["title"]


def test_parts_without_what_is_required_cost_nothing():
    priced = replace(
        TABLES,
        fields=tuple(
            replace(field, required=field.kind is Kind.MONEY or field.required) for field in TABLES.fields
        ),
    )
    prose = "# Furniture\n\n" + "\n\n".join(
        f"## On {wood}\n\n" + f"We love {wood}, and say so. " * 15 for wood in WOODS
    )
    on = scene(reader, settings=SMALL)
    assert (on.ask(priced, page=prose).value, on.calls) == ({"items": []}, 0)


def single(call: ModelCall) -> str:
    shown = call.turns[0].text
    found = {
        name: re.search(rf"^{name.title()}: (.+)$", shown, re.MULTILINE)
        for name in ("title", "price", "wood")
    }
    return json.dumps({name: match and match[1] for name, match in found.items()})


def spread(*lines: str) -> str:
    return "\n".join(f"## Part\n\n{line}\n\n{'Something else entirely. ' * 18}\n" for line in lines)


def test_one_thing_is_filled_from_part_to_part_until_nothing_is_missing():
    page = spread("Title: Oak table", "Price: $20", "Wood: oak", "Title: Another", "Price: $30")
    on = scene(single, settings=SMALL)
    answer = on.ask(TABLE, page=page)
    assert answer.value == {"title": "Oak table", "price": "$20", "wood": "oak"}
    assert on.calls == 3
    assert all(answer.evidence.verified(name) for name in answer.value)
    place = answer.evidence.places["wood"]
    assert place is not None
    assert page[place.start : place.end] == "oak"


def test_a_required_value_that_no_part_has_is_said_to_be_missing():
    on = scene(single, settings=SMALL)
    with pytest.raises(
        Malformed,
        match=r"no part of the page \(\d were read\) contains what is required: title is required and is missing",
    ):
        on.ask(TABLE, page=spread("Price: $20", "Wood: oak"))


def test_data_that_does_not_fit_beside_the_text_is_not_shown():
    on = scene(['{"title": "Oak table"}'], settings=SMALL)
    on.ask(TABLE, page=Material("Oak table", {"long": "x" * 600}))
    assert "xxx" not in on.speaker.calls[0].turns[0].text


def test_data_alone_that_is_too_long_is_refused_before_asking():
    on = scene([], settings=SMALL)
    with pytest.raises(
        TooLarge, match=r"structured data has 6\d\d characters, more than ai\.part_size \(500\)"
    ):
        on.ask(TABLE, page=Material("", {"long": "x" * 600}))


@pytest.mark.promise(15)
def test_a_page_without_end_buys_nothing():
    on = scene([], settings=SMALL)
    with pytest.raises(
        TooLarge,
        match=r"needs [\d,]+ questions, and the limit is 100: pass its main content, or raise ai\.part_size",
    ):
        on.ask(TABLES, page=PAGE * 100)
    assert on.calls == 0


def terse(call: ModelCall) -> object:
    """Reads everything, but is cut off when that takes more than two things."""
    found = json.loads(reader(call))["items"]
    return json.dumps({"items": found}) if len(found) <= 2 else cut(json.dumps({"items": found})[:-20])


def test_a_list_that_is_too_long_for_one_answer_is_read_in_pieces():
    on = scene(terse)
    answer = on.ask(TABLES, page=PAGE)
    assert [item["title"] for item in answer.value["items"]] == [f"Table {wood}" for wood in WOODS]
    assert list(answer.evidence.unverified()) == []
    assert (answer.usage.calls, answer.cost) == (on.calls, on.budget.spent)


@pytest.mark.promise(15)
def test_a_page_that_was_read_in_pieces_is_not_asked_about_again():
    on = scene(terse)
    on.ask(TABLES, page=PAGE)
    calls = on.calls
    again = on.ask(TABLES, page=PAGE)
    assert (on.calls, again.cached, len(again.value["items"])) == (calls, True, len(WOODS))


@pytest.mark.promise(15)
def test_a_reading_in_pieces_that_was_interrupted_goes_on_where_it_was():
    on = scene(terse, budget=Drawer(refuses={3: BudgetExhausted("all gone")}))
    with pytest.raises(BudgetExhausted):
        on.ask(TABLES, page=PAGE)
    on.budget.refuses = {}
    assert len(on.ask(TABLES, page=PAGE).value["items"]) == len(WOODS)
    questions = [quote.question for quote in on.budget.quotes]
    assert len(set(questions)) == len(questions), "nothing was asked a second time"


@pytest.mark.promise(15)
def test_a_model_that_rambles_is_not_followed_into_ever_smaller_pieces():
    on = scene(lambda call: cut("and so on, and so on"), settings={"ai.repairs": 2})
    with pytest.raises(Malformed, match="was cut off"):
        on.ask(TABLES, page=PAGE * 10, presence=False)
    assert on.calls <= 2 + 2, "halved twice, then told once what is wrong"


@pytest.mark.promise(15)
def test_pieces_cost_no_more_calls_than_there_can_be_pieces():
    on = scene(lambda call: cut("{") if len(call.turns[0].text) > 700 else reader(call))
    on.ask(TABLES, page=PAGE)
    assert on.calls <= 1 + 3 + 9


@pytest.mark.parametrize("blank", ["", " \n" * 1_000])
def test_a_blank_page_is_nothing_to_read(blank: str):
    on = scene([], settings=SMALL)
    assert (on.ask(TABLES, page=blank).value, on.calls) == ({"items": []}, 0)


def test_a_blank_page_with_data_is_asked_about_its_data():
    on = scene([{"title": "Oak table"}], settings=SMALL)
    answer = on.ask(TABLE, page=Material(" \n" * 1_000, {"name": "Oak table"}))
    place = answer.evidence.places["title"]
    assert place is not None
    assert place.path is not None
    assert "<<<page" not in on.speaker.calls[0].turns[0].text

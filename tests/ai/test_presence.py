"""Is there any here? What is known for nothing, what is worth asking, and that only a sure no counts."""

from dataclasses import replace

import pytest

from tests.ai.scene import TABLES, cut, refusal, scene
from thresher.ai.presence import pays, rules_out
from thresher.ai.provider import ModelCall
from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema

OFFERS = Schema(
    "offers", (Field("title", required=True), Field("price", Kind.MONEY, required=True)), many=True
)
EVENTS = Schema("events", (Field("title", required=True), Field("day", Kind.DATE, required=True)), many=True)
FOUND = {"items": [{"title": "Oak table", "price": "$5"}]}
PAGE = "Oak table\n\nNow $5\n"


def told(call: ModelCall) -> object:
    """Answers the question whether there is any with no, and reads everything else."""
    return {"any": False} if "any" in call.schema["properties"] else {"items": []}


@pytest.mark.parametrize("text", ["", " \n", "About us.\n\nWe love wood, and wood loves us."])
def test_a_text_without_any_amount_has_nothing_that_needs_a_price(text: str):
    on = scene([])
    answer = on.ask(OFFERS, page=Material(text, hash="h1"))
    assert (answer.value, answer.cost, on.calls, answer.evidence.source) == ({"items": []}, 0, 0, "h1")


@pytest.mark.parametrize(
    "text",
    [
        "Oak table, $5",
        "Oak table, five dollars",
        "Table: 五百円",
        "Oak table\nFree",
        "Only ٥ left",
        "price in EUR",
        "zu verschenken: gratis\nGratis",
    ],
)
def test_a_text_that_may_name_a_price_is_read(text: str):
    assert not rules_out(OFFERS, text)


@pytest.mark.parametrize(
    "text",
    [
        "On May the first",
        "Yesterday",
        "Heute Abend",
        "an hour ago",
        "12.",
        "十二月",
        "le mois de février",
        "last Tuesday",
        "ab sofort",
        "昨日",
    ],
)
def test_a_text_that_may_name_a_day_is_read(text: str):
    assert not rules_out(EVENTS, text)


def test_a_text_without_any_day_has_nothing_that_needs_one():
    assert rules_out(EVENTS, "We love wood, and wood loves us.")


def test_structured_data_may_say_what_the_text_does_not():
    on = scene(lambda call: FOUND)
    assert on.ask(OFFERS, page=Material("Oak table", {"price": "$5"})).value == FOUND


def test_values_that_are_not_required_rule_nothing_out():
    assert not rules_out(TABLES, "Oak table")


def test_a_day_over_a_long_list_counts_for_all_of_it():
    """The day stands in a heading, and the second part has no number of its own."""
    page = "# Evenings in May\n\n" + "\n\n".join(
        f"## Reading {name}\n\n" + "Poems, and a glass of wine. " * 9 for name in "abcdef"
    )
    on = scene(lambda call: {"items": []}, settings={"ai.part_size": 600})
    on.ask(EVENTS, page=page)
    assert on.calls > 1


def test_a_caller_may_have_everything_read():
    on = scene([FOUND | {"items": []}])
    on.ask(OFFERS, page="We love wood.", presence=False)
    assert on.calls == 1


@pytest.mark.promise(15)
def test_a_dear_reading_is_not_paid_where_the_cheap_model_sees_nothing():
    on = scene(told)
    answer = on.ask(OFFERS, page=PAGE, tier="strong")
    assert ([call.model for call in on.speaker.calls], answer.value) == (["small"], {"items": []})
    assert answer.cost == on.budget.spent > 0
    assert on.ask(OFFERS, page=PAGE, tier="strong").cached


def test_where_there_is_something_both_are_paid_and_counted():
    on = scene(lambda call: {"any": True} if "any" in call.schema["properties"] else FOUND)
    answer = on.ask(OFFERS, page=PAGE, tier="strong")
    assert (answer.value, answer.usage.calls, answer.cost) == (FOUND, 2, on.budget.spent)


def test_what_was_read_once_is_not_looked_for_again():
    on = scene([FOUND])
    on.ask(OFFERS, page=PAGE, tier="strong", presence=False)
    assert on.ask(OFFERS, page=PAGE, tier="strong").value == FOUND
    assert on.calls == 1


def test_the_cheap_model_is_not_asked_whether_it_should_be_asked():
    on = scene([FOUND])
    assert on.ask(OFFERS, page=PAGE).value == FOUND
    assert on.calls == 1


def test_a_caller_may_insist_on_the_question():
    on = scene(told)
    assert on.ask(OFFERS, page=PAGE, presence=True).value == {"items": []}
    assert on.calls == 1


@pytest.mark.parametrize("unsure", [{"any": None}, "nonsense", cut("{"), refusal()])
def test_unknown_is_not_no(unsure):
    on = scene(
        lambda call: unsure if "any" in call.schema["properties"] else FOUND, settings={"ai.repairs": 0}
    )
    assert on.ask(OFFERS, page=PAGE, presence=True).value == FOUND


def test_the_question_must_cost_less_than_a_quarter_of_the_reading():
    assert [pays(asking, 100) for asking in (24, 25, 26)] == [True, False, False]


def test_the_question_says_what_is_looked_for_and_reserves_little():
    on = scene(told)
    on.ask(replace(OFFERS, name="offers of tables"), page=PAGE, presence=True)
    (call,) = on.speaker.calls
    assert '"what":"offers of tables"' in call.turns[0].text
    assert call.most_output == 500

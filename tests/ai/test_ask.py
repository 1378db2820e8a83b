"""One question from the first look at the desk to the kept answer, and everything that can go wrong
between."""

import pytest

from tests.ai.scene import OPINION, TABLE, TABLES, Drawer, cut, failed, refusal, scene
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.errors import (
    BudgetExhausted,
    ClaimLost,
    ConnectionFailed,
    Malformed,
    NotYet,
    RateLimited,
    TimedOut,
    UnknownName,
    UsageError,
)
from thresher.core.evidence import Evidence, Material

PAGE = "# Oak table\n\nWood: oak\n\nPrice: $120.00\n"
RIGHT = {"title": "Oak table", "price": "$120.00", "wood": "oak"}
INVENTED = {"title": "Walnut desk", "price": "$99.00", "wood": "walnut"}


def test_an_answer_brings_its_value_its_places_and_its_price():
    on = scene([RIGHT])
    answer = on.ask(page=Material(PAGE, hash="h1"))
    place = answer.evidence.places["title"]
    assert (answer.value, answer.model, answer.cached) == (RIGHT, "small", False)
    assert place is not None
    assert PAGE[place.start : place.end] == "Oak table"
    assert (answer.usage.calls, answer.evidence.source) == (1, "h1")
    assert answer.cost == on.budget.bills[0].paid == on.budget.spent > 0


@pytest.mark.promise(15)
def test_the_same_question_is_paid_once():
    on = scene([RIGHT])
    first, second = on.ask(page=PAGE), on.ask(page=PAGE)
    assert (on.calls, second.cached, second.value, second.cost) == (1, True, first.value, first.cost)
    assert second.evidence == first.evidence


@pytest.mark.promise(15)
def test_what_was_answered_once_needs_no_model_any_more():
    on = scene([RIGHT])
    on.ask(page=PAGE)
    on.advisor._tiers, on.advisor._providers = {}, {}
    assert on.ask(page=PAGE).value == RIGHT


@pytest.mark.promise(15)
def test_whoever_waited_while_another_was_answered_does_not_pay_again():
    def answered(budget: Drawer, quote) -> None:
        budget.answers[quote.question] = ModelAnswer(RIGHT, Evidence(), Usage(1, 1, 1), 7, "small")

    on = scene([], budget=Drawer(before=answered))
    answer = on.ask(page=PAGE)
    assert (on.calls, on.budget.spent, answer.value, answer.cached) == (0, 0, RIGHT, True)
    assert answer.evidence.verified("title")


@pytest.mark.promise(14)
def test_a_kept_answer_is_looked_for_in_the_page_again():
    on = scene([RIGHT])
    on.ask(page=PAGE)
    (key,) = on.budget.answers
    on.budget.answers[key] = ModelAnswer(INVENTED, on.budget.answers[key].evidence, Usage(), 0, "small")
    assert list(on.ask(page=PAGE).evidence.unverified()) == ["title", "price", "wood"]


def test_a_kept_answer_that_does_not_fit_is_asked_for_again():
    on = scene([RIGHT, RIGHT])
    on.ask(page=PAGE)
    (key,) = on.budget.answers
    on.budget.answers[key] = ModelAnswer({"title": 5}, Evidence(), Usage(), 0, "small")
    assert (on.ask(page=PAGE).value, on.calls) == (RIGHT, 2)


@pytest.mark.promise(15)
def test_a_call_that_could_cost_too_much_is_never_made():
    on = scene([RIGHT], settings={"budget.call": 0.001})
    with pytest.raises(
        BudgetExhausted,
        match=r"practice/small with [\d,]+ bytes could cost \$0\.0\d+, and budget\.call allows \$0\.001000",
    ) as told:
        on.ask(page=PAGE)
    assert (on.calls, on.budget.quotes) == (0, [])
    # The provider did nothing wrong: its gate stays open for shorter questions.
    assert told.value.away == told.value.retry_after == 3_600


@pytest.mark.promise(15)
def test_what_is_reserved_is_never_less_than_what_is_paid():
    on = scene([INVENTED, "no", INVENTED], settings={"ai.output_limit": 50})
    on.ask(page=PAGE)
    assert all(bill.paid is not None and bill.paid <= bill.reserved for bill in on.budget.bills)


@pytest.mark.promise(15)
def test_without_money_nothing_is_sent():
    on = scene([RIGHT], budget=Drawer(refuses={0: BudgetExhausted("the day's money is spent")}))
    with pytest.raises(BudgetExhausted, match="the day's money"):
        on.ask(page=PAGE)
    assert on.calls == 0


def test_a_reply_of_the_wrong_form_is_told_what_is_wrong_with_it():
    on = scene([{"title": 5, "colour": "red"}, RIGHT])
    assert on.ask(page=PAGE).value == RIGHT
    first, second = on.speaker.calls
    assert second.system == first.system
    assert second.turns[:1] == first.turns
    assert [turn.ours for turn in second.turns] == [True, False, True]
    assert "'colour' is not a field" in second.turns[2].text
    assert "title must be a string, got 5" in second.turns[2].text


def test_a_repaired_answer_costs_both_calls():
    on = scene(["nonsense", RIGHT])
    answer = on.ask(page=PAGE)
    assert (answer.usage.calls, answer.cost) == (2, on.budget.spent)


@pytest.mark.promise(15)
@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_a_model_that_never_learns_is_not_asked_for_ever(repairs: int):
    on = scene(
        [f"nonsense {{'{number}': 1" + "}" * (number % 2) for number in range(9)],
        settings={"ai.repairs": repairs},
    )
    with pytest.raises(Malformed, match=r"practice/small gave no usable answer to extract@1 after"):
        on.ask(page=PAGE)
    assert on.calls <= repairs + 1
    assert on.budget.answers == {}


@pytest.mark.promise(15)
def test_a_model_that_repeats_its_mistake_is_not_told_a_third_time():
    on = scene(["nonsense"] * 9, settings={"ai.repairs": 5})
    with pytest.raises(Malformed, match="after 2 calls: there is no JSON object in the answer"):
        on.ask(page=PAGE)
    assert on.calls == 2


def test_a_repair_that_could_cost_too_much_ends_the_asking():
    """Otherwise the task would come back every hour and pay for the first call each time."""
    long = "x" * 3_000
    on = scene([long, RIGHT], settings={"ai.output_limit": 16, "budget.call": 0.005})
    with pytest.raises(
        Malformed, match=r"no JSON object in the answer, and it may not be asked again \(one call"
    ):
        on.ask(page=PAGE)
    assert on.calls == 1


def test_a_refusal_is_final():
    on = scene([refusal(), RIGHT])
    with pytest.raises(Malformed, match="refused to answer"):
        on.ask(page=PAGE)
    assert on.calls == 1


def test_a_reply_that_was_cut_off_says_so_and_is_never_completed():
    on = scene(
        [cut('{"items": [{"title": "Oak table"}, {"title": "Oak ch'), {"items": [{"title": "Oak table"}]}]
    )
    assert on.ask(TABLES, page=PAGE).value == {"items": [{"title": "Oak table"}]}
    assert "was cut off after 4,000 tokens" in on.speaker.calls[1].turns[2].text


def test_a_list_where_several_things_were_wanted_is_understood():
    on = scene([[{"title": "Oak table"}]])
    assert on.ask(TABLES, page=PAGE).value == {"items": [{"title": "Oak table"}]}


def test_a_required_value_that_stands_nowhere_is_asked_for_once_more():
    on = scene([INVENTED, RIGHT])
    assert on.ask(page=PAGE).value == RIGHT
    assert "Walnut desk" in on.speaker.calls[1].turns[2].text
    assert on.calls == 2


@pytest.mark.promise(14)
def test_a_model_that_insists_is_kept_as_unverified_and_not_asked_again():
    on = scene([INVENTED, INVENTED, RIGHT])
    answer = on.ask(page=PAGE)
    assert (answer.value, on.calls) == (INVENTED, 2)
    assert not any(answer.evidence.verified(name) for name in answer.evidence.places)
    assert on.ask(page=PAGE).cached


def test_a_value_that_is_not_required_is_not_asked_for_again():
    on = scene([{"title": "Oak table", "price": "$5", "wood": None}])
    answer = on.ask(page=PAGE)
    assert (on.calls, list(answer.evidence.unverified())) == (1, ["price"])


@pytest.mark.parametrize(
    "second",
    [
        {"title": "Elm table", "price": None, "wood": None},
        "nonsense",
        cut('{"title": "Oak'),
        refusal(),
        failed(RateLimited("slow down", retry_after=5), billed=False),
        failed(TimedOut("no answer"), billed=True),
    ],
)
def test_whatever_becomes_of_the_second_asking_the_first_answer_stays(second):
    on = scene([INVENTED, second])
    assert (on.ask(page=PAGE).value, on.calls) == (INVENTED, 2)
    assert on.ask(page=PAGE).cached


def test_no_money_for_the_second_asking_keeps_the_first_answer():
    on = scene([INVENTED], budget=Drawer(refuses={1: BudgetExhausted("all gone")}))
    assert on.ask(page=PAGE).value == INVENTED
    assert len(on.budget.answers) == 1


def test_a_lost_claim_keeps_nothing():
    on = scene([INVENTED], budget=Drawer(refuses={1: ClaimLost()}))
    with pytest.raises(ClaimLost):
        on.ask(page=PAGE)
    assert on.budget.answers == {}


def test_of_two_answers_the_one_with_more_in_the_page_is_kept():
    page = "Oak table\n\nElm chair\n"
    first = {"items": [{"title": "Oak table"}, {"title": "Ash bench"}]}
    on = scene([first, {"items": []}])
    assert on.ask(TABLES, page=page).value == first
    on = scene([{"items": [{"title": "Ash bench"}]}, {"items": []}])
    assert on.ask(TABLES, page=page).value == {"items": []}
    both = {"items": [{"title": "Oak table"}, {"title": "Elm chair"}]}
    on = scene([first, both])
    assert on.ask(TABLES, page=page).value == both


@pytest.mark.promise(15)
def test_a_call_that_was_turned_away_costs_nothing_and_one_that_hung_costs_the_worst():
    for problem, billed in ((ConnectionFailed("refused"), False), (TimedOut("no answer"), True)):
        on = scene([failed(problem, billed=billed)])
        with pytest.raises(type(problem)) as told:
            on.ask(page=PAGE)
        assert told.value is problem
        assert on.budget.spent == (on.budget.quotes[0].most if billed else 0)
        assert on.budget.answers == {}


def test_a_quote_names_the_gate_the_model_and_the_prompt():
    on = scene([RIGHT])
    on.ask(page=PAGE)
    (quote,) = on.budget.quotes
    assert (quote.gate, quote.provider, quote.model, quote.prompt) == (
        "source:practice",
        "practice",
        "small",
        "extract@1",
    )
    assert list(on.budget.answers) == [quote.question]


def test_a_tier_can_be_chosen_and_is_another_question():
    on = scene([RIGHT, RIGHT])
    on.ask(page=PAGE)
    assert on.ask(page=PAGE, tier="strong").model == "large"
    assert [call.model for call in on.speaker.calls] == ["small", "large"]


def test_a_judgement_needs_no_page():
    on = scene([{"role": "driver"}])
    answer = on.ask(OPINION, task="judge", inputs={"title": "Fahrer"})
    assert (answer.value, answer.model, list(answer.evidence.unverified())) == (
        {"role": "driver"},
        "large",
        ["role"],
    )


def test_fields_that_stand_in_a_page_need_one():
    with pytest.raises(
        UsageError,
        match=r"fields that are read from a page \(title, price, wood\): pass the page as a Material",
    ):
        scene([]).ask(inputs={"title": "Oak table"})


def test_two_pages_are_two_questions():
    with pytest.raises(UsageError, match="one Material at most, got 2"):
        scene([]).ask(page=PAGE, inputs={"other": Material("b")})


def test_without_a_model_the_task_waits_and_says_what_to_add():
    with pytest.raises(
        NotYet, match=r"no model is configured for the tier cheap: add models: to thresher\.yaml"
    ) as told:
        scene([], tiers={}).ask(page=PAGE)
    assert told.value.retry_after == 3_600


def test_a_provider_that_is_not_open_makes_the_task_wait():
    on = scene([])
    on.advisor._providers = {}
    with pytest.raises(NotYet, match="the provider practice of the tier cheap is not available"):
        on.ask(page=PAGE)


def test_unknown_prompts_and_tiers_are_named():
    with pytest.raises(UnknownName, match="no prompt 'extrct'"):
        scene([]).ask(page=PAGE, task="extrct")
    with pytest.raises(UsageError, match="a tier must be one of cheap, strong, got 'best'"):
        scene([]).ask(page=PAGE, tier="best")


def test_structured_data_is_shown_beside_the_text():
    on = scene([RIGHT])
    on.ask(page=Material(PAGE, {"@type": "Product", "sku": "T-1"}))
    assert '{"@type":"Product","sku":"T-1"}' in on.speaker.calls[0].turns[0].text


def test_a_setting_changed_in_between_counts_at_once():
    on = scene([RIGHT, RIGHT], settings={"ai.output_limit": 100, "ai.timeout": 5})
    on.ask(page=PAGE)
    assert (on.speaker.calls[0].most_output, on.speaker.calls[0].seconds) == (100, 5)


def test_the_schema_is_told_to_the_vendor_too():
    on = scene([RIGHT])
    on.ask(page=PAGE)
    assert on.speaker.calls[0].schema == TABLE.json_schema()

"""A model that may say anything at all: what holds whatever it says."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ai.scene import TABLE, TABLES, Scene, cut, failed, refusal, scene
from thresher.ai.provider import ModelReply
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.errors import RateLimited, ServerError, TaskError, TimedOut
from thresher.core.schema import Schema

PAGE = "# Furniture\n\n## Oak table\n\nWood: oak\n\nPrice: $120.00\n\n## Elm chair\n\nWood: elm\n\nPrice: $45.00\n"
REPAIRS = 2

WORDS = st.sampled_from(
    ["Oak table", "Elm chair", "oak", "elm", "$120.00", "$45.00", "$12.00", "Ash bench", "", "table", "art"]
)
VALUES = WORDS | st.none() | st.integers() | st.text(max_size=10) | st.lists(WORDS, max_size=2)
THINGS = st.dictionaries(st.sampled_from(["title", "price", "wood", "colour"]), VALUES, max_size=4)
GOOD = st.fixed_dictionaries({"title": WORDS, "price": WORDS | st.none(), "wood": WORDS | st.none()})
OBJECTS = (
    THINGS
    | GOOD
    | st.fixed_dictionaries({"items": st.lists(THINGS | GOOD, max_size=4)})
    | st.lists(GOOD, max_size=2)
)
TEXTS = (
    OBJECTS.map(json.dumps)
    | OBJECTS.map(lambda value: f"Sure:\n```json\n{json.dumps(value)}\n```")
    | st.text(max_size=30)
)
FAILURES = st.builds(
    failed,
    st.sampled_from([RateLimited("wait"), TimedOut("late"), ServerError("ours")]),
    billed=st.booleans(),
)
REPLIES = (
    TEXTS
    | TEXTS.map(lambda text: cut(text[: len(text) // 2]))
    | TEXTS.map(cut)
    | st.builds(refusal)
    | FAILURES
)


def outcome(on: Scene, schema: Schema) -> ModelAnswer | TaskError:
    try:
        return on.ask(schema, page=PAGE)
    except TaskError as problem:
        return problem


@pytest.mark.promise(14)
@pytest.mark.promise(15)
@given(st.lists(REPLIES, min_size=5, max_size=5), st.sampled_from([TABLE, TABLES]))
def test_whatever_a_model_says(replies: list[object], schema: Schema):
    on = scene(replies, settings={"ai.repairs": REPAIRS})
    found = outcome(on, schema)
    assert on.calls == len(on.budget.quotes) <= 1 + REPAIRS + 1
    assert on.budget.spent <= sum(quote.most for quote in on.budget.quotes)
    if isinstance(found, TaskError):
        assert on.budget.answers == {}
        return
    assert schema.complaints(found.value) == []
    assert len(on.budget.answers) == 1
    for place in found.evidence.places.values():
        assert place is None or PAGE[place.start : place.end] == place.quote


@pytest.mark.promise(15)
@settings(deadline=None, max_examples=50)
@given(st.lists(REPLIES, min_size=1, max_size=5), st.sampled_from([TABLE, TABLES]))
def test_what_was_answered_is_answered_the_same_again_for_nothing(replies: list[object], schema: Schema):
    on = scene([*replies, *[refusal()] * 4], settings={"ai.repairs": REPAIRS})
    first = outcome(on, schema)
    if isinstance(first, ModelAnswer):
        calls = on.calls
        second = on.ask(schema, page=PAGE)
        assert (second.value, second.evidence, second.cached, on.calls) == (
            first.value,
            first.evidence,
            True,
            calls,
        )


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_vendor_that_counts_as_it_likes_is_paid_as_it_counts(before: int, after: int):
    said = ModelReply(json.dumps({"title": "Oak table"}), Usage(99, before, after), "small")
    on = scene([said])
    answer = on.ask(TABLE, page=PAGE)
    assert answer.usage == Usage(1, before, after)
    assert answer.cost == on.budget.bills[0].paid == before * 1 + after * 4

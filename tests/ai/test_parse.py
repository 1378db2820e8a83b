"""Replies as models really write them, and what must never be made of them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.ai import draft as module
from thresher.ai.draft import Parsed, Unreadable, parse

THING = {"items": [{"title": 'Oak "table" {small}', "price": "12 €"}]}
WHOLE = json.dumps(THING, ensure_ascii=False)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
OBJECT = st.dictionaries(st.text(), JSON, max_size=4)


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"\n  {WHOLE}\n",
        f"\ufeff{WHOLE}",
        f"```json\n{WHOLE}\n```",
        f"```\n{WHOLE}\n```\n",
        f"Sure! Here is what the page says:\n```json\n{WHOLE}\n```\nAnything else?",
        f'Here it is: {WHOLE} Hope that "helps".',
        f"```json\n{WHOLE}",
        json.dumps(THING, indent=2),
    ],
)
def test_one_whole_object_is_taken_out_of_what_surrounds_it(text: str):
    assert parse(text) == Parsed(THING)


def test_a_list_that_is_the_whole_answer_is_read():
    assert parse("[1, 2]") == Parsed([1, 2])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("There are no tables on this page.", "no JSON object"),
        ('"a text"', "no JSON object"),
        ("42", "no JSON object"),
        ("null", "no JSON object"),
        (f"{WHOLE}\n{WHOLE}", "more than one object"),
        (f"Before: {{}}. After: {WHOLE}", "more than one object"),
        ('{"a": 1} {"b": ', "more than one object"),
        ('Sure: [{"a": 1}]', "is in a list"),
        ('[{"a": 1}', "is in a list"),
        ("{'a': 1}", "not JSON"),
        ('{"a": 1,}', "not JSON"),
        ('{"a": NaN}', "not JSON"),
        ('{"a": "\\ud800"}', "not JSON"),
        ('{"a":' * 21 + "1" + "}" * 21, "nested deeper than 20"),
        ('{"a":' * 995 + "1" + "}" * 995, ""),
        ('{"a": 1, "a": 2}', "'a' appears twice"),
        ('{"b": {"a": 1, "a": 1}}', "'a' appears twice"),
        ('Sure: [{"a": 1}, {"a": 2}]', "more than one object"),
    ],
)
def test_what_is_not_certain_is_not_read(text: str, says: str):
    found = parse(text)
    assert isinstance(found, Unreadable)
    assert says in found.reason


@pytest.mark.promise(14)
@pytest.mark.parametrize("around", ["{}", "```json\n{}", "Sure! Here it is:\n{}"])
def test_an_answer_that_was_cut_off_is_never_taken_for_a_shorter_one(around: str):
    whole = json.dumps({"items": [{"title": f"table {number}"} for number in range(5)]})
    for end in range(1, len(whole)):
        assert isinstance(parse(around.replace("{}", whole[:end])), Unreadable), whole[:end]


@settings(deadline=None)
@given(OBJECT)
def test_every_object_comes_back_as_it_was(value: dict[str, object]):
    written = json.dumps(value)
    assert parse(written) == parse(f"So:\n```json\n{written}\n```") == Parsed(value)


@settings(deadline=None)
@given(OBJECT, st.data())
def test_no_beginning_of_an_object_is_read(value: dict[str, object], data: st.DataObject):
    written = json.dumps(value)
    assert isinstance(parse(written[: data.draw(st.integers(0, len(written) - 1))]), Unreadable)


@settings(deadline=None)
@given(st.text() | st.text(alphabet='{}[]"\\:,a1 \n`'))
def test_no_reply_breaks_the_reader(text: str):
    found = parse(text)
    if isinstance(found, Parsed):
        assert isinstance(found.value, dict | list)
    else:
        assert len(found.reason) < 400


@pytest.mark.parametrize("char", ["{", "[", '{"a":', '"', "\\", '{"', "{}", '{"a":{}}', "`"])
def test_a_hostile_reply_is_read_in_one_pass(char: str):
    """Nothing here is quadratic: a reply of a million characters is given up like a short one."""
    assert isinstance(parse(char * (1_000_000 // len(char))), Unreadable)


def test_an_endless_reply_is_not_read_at_all():
    found = parse(" " * (module.MAX_CHARACTERS + 1))
    assert isinstance(found, Unreadable)
    assert "the limit is" in found.reason

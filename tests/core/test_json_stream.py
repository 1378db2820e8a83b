"""A large JSON object, read a piece at a time: equal to what the whole parser reads, whatever the pieces, and
nothing else passes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.json_stream import AT_ONCE, MAX_LENGTH, MAX_MEMBERS, NotJson, Passed, elements, outline

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def cut(body: bytes, size: int) -> Iterator[bytes]:
    return (body[at : at + size] for at in range(0, len(body), size))


def read(body: bytes, size: int = 7) -> tuple[dict[str, Any], list[Any]]:
    return outline(cut(body, size), "jobs").members, list(elements(cut(body, size), "jobs"))


@given(
    st.dictionaries(TEXT.filter(lambda name: name != "jobs"), VALUE, max_size=4),
    st.lists(VALUE, max_size=5),
    st.integers(1, 40),
    st.data(),
)
def test_it_reads_what_the_whole_parser_reads(
    members: dict[str, Any], jobs: list[Any], size: int, data: st.DataObject
) -> None:
    whole = list(members.items())
    whole.insert(data.draw(st.integers(0, len(whole))), ("jobs", jobs))
    indent, plain = data.draw(st.sampled_from([None, 0, 3])), data.draw(st.booleans())
    body = json.dumps(dict(whole), indent=indent, ensure_ascii=plain).encode()
    assert read(body, size) == (members, jobs)
    assert outline(cut(body, size), "jobs").length == len(jobs)


@pytest.mark.promise(18)
@given(
    st.binary(max_size=60) | st.text(st.sampled_from('{}[]",:\\ntu1e-. "jobs'), max_size=60).map(str.encode),
    st.integers(1, 20),
)
def test_garbage_is_refused_or_read_and_never_breaks_us(body: bytes, size: int) -> None:
    try:
        expected = json.loads(body)
    except (ValueError, RecursionError):
        expected = None
    try:
        members, jobs = read(body, size)
    except NotJson:
        return
    if expected is not None:  # names that are there twice are refused, so both read the same
        assert {**members, "jobs": jobs} == {"jobs": [], **expected}


@given(st.lists(VALUE, min_size=1, max_size=4), st.integers(1, 9), st.data())
def test_a_body_that_breaks_off_is_refused(jobs: list[Any], size: int, data: st.DataObject) -> None:
    body = json.dumps({"a": 1, "jobs": jobs}).encode()
    with pytest.raises(NotJson):
        read(body[: data.draw(st.integers(0, len(body) - 1))], size)


def test_without_the_list_there_are_no_elements() -> None:
    assert outline([b'{"a": 1}'], "jobs").length is None
    assert list(elements([b'{"a": 1}'], "jobs")) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b'{"jobs": {}}', "jobs must be a list"),
        (b'{"jobs": null}', "jobs must be a list"),
        (b'{"jobs": [1 2]}', "expected"),
        (b'{"jobs": [], "jobs": []}', "twice"),
        (b'{"a": 1, "a": 1}', "twice"),
        (b'{"jobs": []} {}', "after the end"),
        (b'{"jobs": [NaN]}', "not a JSON number"),
        (b'{"jobs": [-Infinity]}', "not a JSON number"),
        (b'["jobs"]', "object"),
        (b"", "object"),
        (b'{"jobs": ["\xff"]}', "UTF-8"),
        (b'{"jobs": ["\xe2\x82"', "UTF-8"),
        (b'{"jobs": [1,]}', "not JSON"),
        (b"{'jobs': []}", "name of a member"),
        (b'{"jobs": [tru]}', "not JSON"),
        (b'{"a" 1}', "expected"),
        (b'{"a": 1,}', "name of a member"),
        (b'{"jobs": [] "a": 1}', "expected"),
    ],
)
def test_what_is_wrong_is_said(body: bytes, says: str) -> None:
    with pytest.raises(NotJson, match=says):
        read(body)


def test_half_a_character_across_two_pieces_is_whole() -> None:
    body = json.dumps({"jobs": ["€😀"]}, ensure_ascii=False).encode()
    assert all(read(body, size)[1] == ["€😀"] for size in (1, 2, 3))


def test_half_a_surrogate_pair_is_left_to_whoever_reads_the_element() -> None:
    assert read(b'{"jobs": ["\\ud800"]}')[1] == ["\ud800"]


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "element",
    [
        b'"' + b"x" * MAX_LENGTH + b'"',
        b'"' + b'\\"' * MAX_LENGTH + b'"',
        b'{"a": "' + b"\\\\" * MAX_LENGTH + b'"}',
        b"[" + b"1," * MAX_LENGTH + b"1]",
        b"1" * (MAX_LENGTH + 5),
        b'["' + b"]" * MAX_LENGTH + b'"]',
    ],
    ids=["text", "quotes", "backslashes", "list", "number", "brackets in text"],
)
def test_an_element_that_is_too_long_is_passed_over_and_the_next_is_read(element: bytes) -> None:
    body = b'{"jobs": [1, ' + element + b", 2]}"
    for size in (len(body), 65_536, 100_003):
        first, passed, last = list(elements(cut(body, size), "jobs"))
        assert (first, last) == (1, 2)
        assert isinstance(passed, Passed)
        assert "longer than" in passed.why
        assert outline(cut(body, size), "jobs").length == 3


def test_an_element_of_just_the_longest_is_read() -> None:
    text = "x" * (MAX_LENGTH - 2)
    assert read(json.dumps({"jobs": [text, 1]}).encode(), 50_000)[1] == [text, 1]


@pytest.mark.promise(18)
def test_an_element_that_is_nested_too_deeply_is_passed_over() -> None:
    deep = b"[" * 20_000 + b"]" * 20_000
    found = read(b'{"jobs": [' + deep + b", 1]}", 4_000)[1]
    assert isinstance(found[0], Passed)
    assert found[1] == 1


@pytest.mark.promise(18)
def test_nothing_but_brackets_is_given_up() -> None:
    body = b'{"jobs": [' + b"[" * 3_000_000
    with pytest.raises(NotJson):
        list(elements(cut(body, 65_536), "jobs"))
    with pytest.raises(NotJson, match="too many brackets"):
        list(elements(cut(b'{"jobs": [[' + b"[]," * 1_500_000 + b"1]]}", 65_536), "jobs"))


@pytest.mark.promise(18)
def test_members_beside_the_list_are_bounded_too() -> None:
    with pytest.raises(NotJson, match="is longer than"):
        outline([b'{"a": "' + b"x" * MAX_LENGTH + b'"}'], "jobs")
    with pytest.raises(NotJson, match="the name of a member is longer"):
        outline([b'{"' + b"x" * MAX_LENGTH + b'": 1}'], "jobs")
    with pytest.raises(NotJson, match="more than"):
        outline([json.dumps({str(number): 1 for number in range(MAX_MEMBERS + 1)}).encode()], "jobs")


@pytest.mark.promise(18)
def test_only_a_few_elements_are_in_memory() -> None:
    """Pieces are asked for no further ahead than the longest element needs."""
    element = json.dumps("x" * 1_000).encode() + b","
    asked = 0

    def pieces() -> Iterator[bytes]:
        nonlocal asked
        yield b'{"jobs": ['
        for _ in range(5_000):
            asked += 1
            yield element
        yield b"1]}"

    for number, _ in enumerate(elements(pieces(), "jobs"), 1):
        assert asked - number <= MAX_LENGTH // 1_000 + 2


@pytest.mark.parametrize(
    ("written", "meant"),
    [("1", 1), ("-5", -5), ("123456789012345678", 123456789012345678), ("1" * 400, float("inf"))],
)
def test_numbers_are_whole_as_long_as_they_are_of_sensible_length(written: str, meant: float) -> None:
    assert read(f'{{"jobs": [{written}]}}'.encode())[1] == [meant]


INNER = '},{ "'  # what looks like the end of an element wherever it stands
AWKWARD = [
    pytest.param([{"a": number, "b": INNER, "c": f"{INNER}\\"} for number in range(40)], id="in a text"),
    pytest.param([{"a": [{"b": 1}, {"b": [{}, {}]}], "c": {"d": {}}} for _ in range(40)], id="in an element"),
    pytest.param(
        [{"a": 1}, 2, {"a": [3]}, None, {"a": INNER}, [{"a": 4}, {}], {}, "5", {"a": "\0"}] * 9,
        id="among others",
    ),
    pytest.param(
        [{"a": "\ud800"}, {"a": 1}, {"a": "\ud800"}, {"a": "é" * 50}] * 9, id="what one parser alone reads"
    ),
    pytest.param(
        [{"a": 10**19}, {"a": -(2**63)}, {"a": 10**18}, {"a": 2**64 - 1}, {"a": INNER}] * 9,
        id="great numbers",
    ),
]


@pytest.mark.parametrize("jobs", AWKWARD)
@pytest.mark.parametrize("wide", [30, 60, 200, AT_ONCE])
@pytest.mark.parametrize("indent", [None, 2])
def test_elements_that_are_read_together_are_those_that_are_read_one_by_one(
    jobs: list[Any], wide: int, indent: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher.core.json_stream.AT_ONCE", wide)
    body = json.dumps({"jobs": jobs, "a": 1}, indent=indent).encode()
    assert read(body, 100) == ({"a": 1}, jobs)


@given(
    st.lists(st.dictionaries(TEXT, VALUE | st.just(INNER), max_size=3), max_size=8),
    st.integers(1, 99),
    st.integers(1, 40),
)
def test_however_many_are_read_together_they_are_the_same(jobs: list[Any], wide: int, size: int) -> None:
    body = json.dumps({"jobs": jobs, "a": 1}).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.core.json_stream.AT_ONCE", wide)
        assert read(body, size) == ({"a": 1}, jobs)


@pytest.mark.promise(18)
def test_a_mistake_among_elements_that_are_read_together_is_told_with_its_place() -> None:
    body = b'{"jobs": [' + b'{"a": 1}, ' * 50 + b'{"a": oops}, ' + b'{"a": 1}, ' * 50 + b"{}]}"
    with pytest.raises(NotJson, match=f"character {body.index(b'oops')}"):
        outline(cut(body, 100), "jobs")

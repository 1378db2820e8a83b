"""Data that pages carry for their own scripts."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.html.parser import parse
from thresher.reading.structured.embedded import balanced, embedded, walk
from thresher.reading.structured.loose_json import BrokenJson, Loose, read_json


def found(html: str) -> dict[str, object]:
    return {each.name: each.value for each in embedded(parse(html))[0]}


def test_a_json_script_is_known_by_its_id():
    assert found('<script id="__NEXT_DATA__" type="application/json">{"props": [1, 2]}</script>') == {
        "__NEXT_DATA__": {"props": [1, 2]}
    }


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ('window.__STATE__ = {"rows": [1, 2, 3], "s": "}"};', "__STATE__"),
        ("var shop={rows:[1,2,3],s:'}'};other()", "shop"),
        ('window["app.data"] = {"rows": [1, 2, 3], "s": "}"}', "window.app.data"),
        ('self.__X__=JSON.parse("{\\"rows\\": [1, 2, 3], \\"s\\": \\"}\\"}");', "__X__"),
        ('window.__D__ = "{\\"rows\\": [1, 2, 3], \\"s\\": \\"}\\"}";', "__D__"),
        ('const a = 1; let data = {rows: [1, 2, 3,], /* note */ s: "}", }; f({})', "data"),
    ],
)
def test_an_assignment_is_cut_out_by_counting_braces_outside_of_texts(script: str, name: str):
    assert found(f"<script>{script}</script>") == {name: {"rows": [1, 2, 3], "s": "}"}}


def test_data_in_an_attribute_of_a_component_is_found():
    html = """<div data-page='{"rows": [1, 2, 3], "s": "&amp;"}'></div><div data-page="12"></div><p data-state="{not json, really}">"""
    assert found(html) == {"data-page": {"rows": [1, 2, 3], "s": "&"}}


def test_records_of_a_stream_are_put_together_from_its_pieces():
    pieces = [
        '0:"$L1"\n5:{"rows": [1, 2',
        ', 3], "s": "a}b"}\n6:["$", "div"]\n7:I[12, ["x.js"], "default"]\n',
    ]
    html = "".join(f"<script>self.__next_f.push([1,{json.dumps(piece)}])</script>" for piece in pieces)
    values = [each.value for each in embedded(parse(html))[0]]
    assert {"rows": [1, 2, 3], "s": "a}b"} in values


def test_code_is_no_data_and_no_trouble():
    html = "<script>x = {a: function () { return {} }, b: document.title}; if (a == {}) {}</script>"
    assert embedded(parse(html)) == ([], [])


def test_a_json_script_that_cannot_be_read_is_trouble():
    _, troubles = embedded(parse('<script type="application/json">{"a": </script>'))
    assert [("cannot be read" in trouble.what, bool(trouble.path)) for trouble in troubles] == [(True, True)]


def test_json_ld_and_scripts_from_elsewhere_are_left_to_others():
    html = """<script type="application/ld+json">{"@type": "A", "name": "somebody"}</script>
    <script src="x.js">a = {"b": "cccccccccccccccccc"}</script>"""
    assert found(html) == {}


def test_every_part_of_a_value_is_walked_with_its_path():
    assert [path for path, _ in walk({"a": [{"b": 1}], "c": {"d": []}})] == [
        "$",
        "$.a",
        "$.a[0]",
        "$.c",
        "$.c.d",
    ]


@pytest.mark.promise(18)
@pytest.mark.parametrize("piece", ["a={", "a.", 'a="\\', "a = [", "`", "a=", '"\\"'])
def test_a_hostile_script_is_gone_over_a_few_times_at_most(piece: str):
    assert found(f"<script>{piece * 60_000}</script>") == {}


@pytest.mark.promise(18)
@pytest.mark.parametrize("piece", ["[", '{"a":', '"\\"', "/*", "<!--", "1", "{a ", "-->"])
def test_hostile_json_is_refused_in_one_pass(piece: str):
    with pytest.raises(BrokenJson):
        read_json(piece * 100_000)
    with pytest.raises(BrokenJson):
        read_json("{a" + " " * 300_000 + "}")


def test_half_a_character_is_replaced():
    assert read_json('{"a": "\\ud83d\\ude00 \\ud83d"}').value == {"a": "😀 \ufffd"}


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"'`\\:,/*=!0123 abcJSON.parse(\n", max_size=300))
def test_soup_of_brackets_is_read_or_refused(text: str):
    with suppress(BrokenJson):
        assert isinstance(read_json(text), Loose)
    end = balanced(text, 0)
    assert end is None or 0 < end <= len(text)
    embedded(parse(f"<script>{text.replace('</', '')}</script>"))

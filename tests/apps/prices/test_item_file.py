"""Items from YAML, JSON and CSV: what is read, and what every mistake says."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.item_file import MAX_NAME, checked_item, columns, read_item_sheet, refresh_of
from thresher.apps.prices.model import ItemSpec
from thresher.core.clock import DAY, HOUR
from thresher.core.errors import UsageError

COIN = {"denomination": "dollar", "year": 1921}


def test_an_item_is_what_was_said():
    said = {
        "kind": "coin",
        "attributes": {**COIN, "cleaned": False, "grade": " MS 63 ", "series": ""},
        "include": ["silver", "silver", " "],
        "exclude": ["replica"],
        "currency": "eur",
        "urls": ["https://shop.example/a"],
        "sources": ["club"],
        "refresh": "12h",
    }
    found = checked_item("  1921-D   Morgan ", said)
    assert found.spec == ItemSpec(
        "1921-D Morgan",
        "coin",
        {"denomination": "dollar", "year": "1921", "cleaned": "no", "grade": "MS 63"},
        ("silver",),
        ("replica",),
        "EUR",
        ("https://shop.example/a",),
        ("club",),
    )
    assert found.refresh == 12 * HOUR


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"knd": "coin"}, "knd: knd is not a known key"),
        ({"kind": "stamp"}, "kind: 'stamp' is no kind of item; the kinds are"),
        ({"kind": ["coin"]}, r"kind: \['coin'\] is no text"),
        (
            {"kind": "coin", "attributes": {"colour": "red"}},
            "attributes.colour: a coin has no such attribute; its attr",
        ),
        ({"kind": "coin", "attributes": {"year": "soon"}}, "attributes.year: Year on the coin. Got 'soon'"),
        ({"kind": "coin", "attributes": {"cleaned": "perhaps"}}, "attributes.cleaned: must be yes or no"),
        ({"kind": "coin", "attributes": {"mintmark": False}}, "attributes.mintmark: False is no text"),
        ({"kind": "coin", "attributes": {"year": 1921.0}}, "attributes.year: 1921.0 is no text"),
        ({"kind": "coin", "attributes": "year"}, "attributes: 'year' is no mapping"),
        ({"attributes": {"condition": "shiny"}}, "attributes.condition: must be one of new, refurbished"),
        ({"attributes": {"model": "x" * 201}}, "attributes.model: has 201 characters; the limit is 200"),
        ({"attributes": {"model": "a\x00b"}}, "attributes.model: .* cannot be printed"),
        ({"attributes": {"model": "a\ud800"}}, "attributes.model: .* cannot be printed"),
        ({"currency": "dollars"}, "currency: 'dollars' is no currency; write its code, such as USD"),
        ({"currency": 5}, "currency: '5' is no currency"),
        ({"include": "silver"}, r"include: 'silver' is no list; write \[one, another\]"),
        ({"include": ["x" * 101]}, r"include\[0\]: has 101 characters"),
        ({"exclude": ["a"] * 51}, "exclude: has 51 entries; the limit is 50"),
        ({"urls": ["file:///etc/passwd"]}, r"urls\[0\]: .* only http and https"),
        ({"urls": ["nonsense"]}, r"urls\[0\]: .* is not a URL"),
        ({"urls": [5]}, "urls: .* no list of addresses"),
        ({"refresh": "often"}, "refresh: a duration must be written as"),
        ({"refresh": "1s"}, "refresh: must be from 1m to 365d"),
        ({"refresh": "9" * 99 + "d"}, "refresh: must be from 1m"),
        ({"refresh": 12}, "refresh: must be a duration such as 12h"),
    ],
)
def test_a_mistake_names_its_key_and_says_what_to_write(said, says):
    with pytest.raises(UsageError, match=says) as told:
        checked_item("Lamp", said)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 500


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * (MAX_NAME + 1), "a\x1b[31m", "a\x00", "\ud800", 5, None, ["a"]]
)
def test_a_name_is_one_line_that_can_be_printed(name):
    with pytest.raises(UsageError, match="name"):
        checked_item(name, {})


def test_how_often_an_item_is_looked_for():
    assert [refresh_of(each) for each in (None, 0, "", "auto", "none", "0")] == [0] * 6
    assert (refresh_of("12h"), refresh_of("1d12h"), refresh_of("90")) == (12 * HOUR, 36 * HOUR, 90_000_000)
    assert refresh_of("365d") == 365 * DAY


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["kind", "attributes", "include", "exclude", "currency", "urls", "sources", "refresh", "x"]
)


@pytest.mark.promise(17)
@given(VALUES, st.dictionaries(KEYS, VALUES, max_size=5))
def test_whatever_is_said_is_an_item_or_a_mistake(name, said):
    with suppress(UsageError):
        found = checked_item(name, said)
        assert checked_item(found.spec.name, {}).spec.name == found.spec.name


# Files


SHEET = """name,kind,denomination,year,exclude,currency,refresh,urls
1921-D Morgan,coin,dollar,1921,replica; copy,USD,12h,
Lamp,product,,,,EUR,,https://shop.example/lamp
"""


def test_a_row_of_a_file_is_an_item():
    first, second = read_item_sheet(SHEET.replace("exclude,", "exclude,", 1), "items.csv").wishes
    assert first.spec.attributes == {"denomination": "dollar", "year": "1921"}
    assert (first.spec.exclude, first.refresh) == (("replica", "copy"), 12 * HOUR)
    assert (second.spec.name, second.spec.kind, second.spec.currency) == ("Lamp", "product", "EUR")
    assert second.spec.urls == ("https://shop.example/lamp",)


def test_a_file_may_be_lines_of_json():
    found = read_item_sheet(
        '{"name": "Lamp", "attributes": {"model": "L5"}}\n{"name": "Lamp 2"}\n', "items.jsonl"
    )
    assert [each.spec.attributes for each in found.wishes] == [{"model": "L5"}, {}]


def test_every_attribute_of_every_kind_has_a_column():
    assert {"name", "kind", "currency", "include", "urls", "refresh", "year", "grade", "gtin"} <= set(
        columns()
    )


def test_all_unknown_columns_are_named_at_once_or_left_out_if_asked():
    text = "name,kind,colour,size\nLamp,product,red,5\n"
    with pytest.raises(UsageError, match=r"there is no column 'colour', 'size'.*--ignore-unknown-columns"):
        read_item_sheet(text, "items.csv")
    found = read_item_sheet(text, "items.csv", ignore_unknown=True)
    assert (found.ignored, found.wishes[0].spec.name) == (("colour", "size"), "Lamp")


def test_wrong_lines_are_told_by_number_and_nothing_is_taken_unless_asked():
    text = 'name,kind,year,cleaned\nA,coin,1921,\nB,coin,soon,\nC,product,1921,\nA,coin,1900,\n"D,coin\n,coin,,\nE,coin,1900,maybe\n'
    found = read_item_sheet(text, "items.csv")
    assert [each.spec.name for each in found.wishes] == ["A"]
    assert [each.line for each in found.slips] == [3, 4, 5, 6, 7, 8]
    with pytest.raises(UsageError) as told:
        found.whole("items.csv")
    for each in (
        "items.csv:3: year: Year on the coin. Got 'soon'",
        "items.csv:4: year: a product has no such attribute",
        "items.csv:5: 'A' was on line 2 already",
        "items.csv:6: a quote is not closed",
        "items.csv:7: the name of an item",
        "items.csv:8: cleaned: must be yes or no",
        "Nothing was added",
        "--skip-bad",
    ):
        assert each in str(told.value)


@pytest.mark.parametrize("text", ["", "\n\n", "name\n", "kind\ncoin\n"])
def test_a_file_without_items_is_refused(text):
    with pytest.raises(UsageError, match=r"empty|no items|name is missing"):
        read_item_sheet(text, "items.csv")


@pytest.mark.promise(17)
@given(st.text(max_size=400))
def test_whatever_a_file_says_is_items_slips_or_a_mistake(text):
    try:
        found = read_item_sheet(f"name,kind,year\n{text}", "items.csv")
    except UsageError:
        return
    assert found.wishes or found.slips

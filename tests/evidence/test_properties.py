"""What holds for every text: places lie in it, quotes say what the values say, and nobody can make the search
run away."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema
from thresher.evidence import words
from thresher.evidence.find import find
from thresher.evidence.normalise import fold
from thresher.evidence.plain_text import level
from thresher.evidence.verify import verify
from thresher.evidence.words import needle, spans

_PIECES = st.sampled_from(
    [
        "art",
        "party",
        "5",
        "4.5",
        "1,234",
        "$5",
        "€ 9,99",
        "12 March 2025",
        "2025-03-12",
        "\n",
        "\n\n",
        "- ",
        "| ",
        "# ",
        "**",
        "_",
        "[",
        "](/x)",
        "&amp;",
        "&#",
        "\\",
        "\u200b",
        "\u0308",
        "é",
        "ß",
        "ﬁ",
        "東京",
        "京都",
        "½",
        "²",
        "https://a.example/b",
        "a@b.example",
        "'",
        "-",
        ".",
        " ",
        "\t",
        "<br>",
        "```",
        "ी",
        "İ",
        "\U0001d400",
    ]
)
_TEXTS = st.one_of(st.lists(_PIECES, max_size=30).map("".join), st.text(max_size=80))
_VALUES: st.SearchStrategy[Any] = st.one_of(_TEXTS, st.integers(), st.floats(), st.booleans(), st.none())


@given(kind=st.sampled_from(Kind), value=_VALUES, text=_TEXTS)
def test_finding_never_raises_and_every_place_lies_in_the_text(kind: Kind, value: Any, text: str):
    place = find(Field("it", kind), value, Material(text))
    if place is not None:
        assert place.start is not None
        assert place.end is not None
        assert 0 <= place.start < place.end <= len(text)
        assert text[place.start : place.end] == place.quote


@given(text=_TEXTS)
def test_every_character_of_the_level_text_comes_from_the_original_in_order(text: str):
    flat = level(text)
    assert len(flat.text) == len(flat.starts) == len(flat.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(flat.starts, flat.ends, strict=True))
    assert list(flat.starts) == sorted(flat.starts)


@given(value=_TEXTS, text=_TEXTS)
def test_a_found_text_folds_to_the_same_letters_as_the_value(value: str, text: str):
    wanted = needle(value)
    if wanted is None:
        return
    flat = level(text)
    page = fold(flat, bare=wanted.bare)
    for first, last in spans(wanted, page, flat):
        start, end = flat.span(page.at[first], page.until[last - 1])
        assert page.letters[first:last] == wanted.letters
        assert 0 <= start < end <= len(text)


@given(before=_TEXTS, after=_TEXTS, value=st.text("abc xyz", min_size=1, max_size=20).filter(str.strip))
def test_a_plain_value_on_a_line_of_its_own_is_always_found(before: str, after: str, value: str):
    assert find(Field("it"), value, Material(f"{before}\n\n{value}\n\n{after}")) is not None


@given(
    data=st.recursive(
        _VALUES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=20
    ),
    value=_VALUES,
)
def test_no_data_makes_finding_raise(data: Any, value: Any):
    for kind in Kind:
        find(Field("it", kind), value, Material("", data))


@given(titles=st.lists(_TEXTS, max_size=6), prices=st.lists(_TEXTS, max_size=6), text=_TEXTS)
@settings(max_examples=60, deadline=None)
def test_no_answer_makes_verifying_raise(titles: list[str], prices: list[str], text: str):
    schema = Schema("it", (Field("title"), Field("price", Kind.MONEY), Field("tags", many=True)), many=True)
    items = [
        {"title": title, "price": price, "tags": [price, title]}
        for title, price in zip(titles, prices, strict=False)
    ]
    found = verify(schema, {"items": items}, Material(text, {"list": items}))
    assert len(found.places) <= 4 * len(items)


def _depth(levels: int) -> Any:
    data: Any = "bottom"
    for _ in range(levels):
        data = [data]
    return data


def test_data_nested_deeper_than_python_recurses_is_given_up():
    assert find(Field("it"), "bottom", Material("", _depth(20))) is not None
    assert find(Field("it"), "bottom", Material("", _depth(100_000))) is None


class Counting(str):
    """A text that counts how often it was searched."""

    __slots__ = ("searches",)
    searches: int

    def find(self, *args: Any) -> int:
        self.searches = getattr(self, "searches", 0) + 1
        return super().find(*args)


MAX_WORK = 2_000_000  # a tenth of what is allowed, so that a tenth of the text is enough to pass it


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a" * 100_000, "a"),
        ("a" * 100_000, "aaaa"),
        ("1" * 100_000, "11"),
        ("a " * 50_000, "aa"),
        ("a " * 50_000, "a" * 5_000),
    ],
    ids=["a", "aaaa", "11", "aa", "a x 5,000"],
)
def test_the_work_of_a_search_is_bounded_on_a_text_built_against_it(
    text: str, value: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(words, "MAX_WORK", MAX_WORK)
    flat = level(text)
    page = fold(flat)
    letters = Counting(page.letters)
    wanted = needle(value)
    assert wanted is not None
    assert not list(spans(wanted, words.Folded(letters, page.gaps, page.at, page.until), flat))
    assert letters.searches * 33 <= MAX_WORK + 33 * 2


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.MONEY, Kind.DATE, Kind.URL])
@pytest.mark.parametrize(
    "unit", ["1", "1 ", "1,", "$", "1/1/", "1-", "](", "[x](/y) ", "March ", "@a.", "# ", "| "]
)
def test_a_long_page_of_anything_is_read_to_its_end(kind: Kind, unit: str):
    # Long enough: where the work grew with the square of it, this would take minutes.
    text = unit * (50_000 // len(unit)) + "\n\n7 EUR\n\n"
    find(
        Field("it", kind),
        {Kind.NUMBER: 123456, Kind.URL: "https://a.example/"}.get(kind, "9 March 1999"),
        Material(text),
    )

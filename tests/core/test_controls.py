"""Characters that are no text: what records keep of them, and how JSON carries them past a terminal."""

import json
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.core.limits import all_without_controls, controls_in, escape_unseen, without_controls

pytestmark = pytest.mark.promise(17)

ANY = st.text(st.characters(exclude_categories=()))
DIRECTIONS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@given(ANY)
def test_a_text_without_controls_keeps_its_length_and_everything_else(text: str):
    found = without_controls(text)
    assert len(found) == len(text)
    assert not any(unicodedata.category(char) == "Cc" and char not in "\t\n\r" for char in found)
    assert not DIRECTIONS & set(found)
    assert all(
        old == new or unicodedata.category(old) == "Cc" or old in DIRECTIONS
        for old, new in zip(text, found, strict=True)
    )
    assert without_controls(found) == found


def test_what_breaks_a_line_or_parts_words_still_does():
    assert (
        without_controls("a\x0bb\x0cc\x85d\x1fe\x1b[31m\x9b2J\x7f") == "a\nb\nc\nd e\ufffd[31m\ufffd2J\ufffd"
    )
    assert without_controls("\u202egpj.exe\u2066") == "\u200bgpj.exe\u200b"


@given(
    st.recursive(
        st.none() | st.integers() | ANY,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY, inner, max_size=3),
    )
)
def test_json_that_is_escaped_means_the_same_and_shows_nothing_unseen(value: object):
    shown = escape_unseen(json.dumps(value, ensure_ascii=False))
    assert json.loads(shown) == value
    assert shown.encode()
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)


def test_every_character_that_unicode_calls_unseen_is_escaped():
    unseen = [
        chr(at)
        for at in range(0x20, sys.maxunicode + 1)
        if unicodedata.category(chr(at)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert [char for char in unseen if escape_unseen(char) == char] == []
    assert escape_unseen("a\x9b\u202e\U000e0041é😀") == "a\\u009b\\u202e\\udb40\\udc41é😀"


@given(st.dictionaries(st.text(), st.text()))
@example({"a": "\x1b"})
@example({"a\x08": "\f"})
def test_a_control_is_found_in_what_is_written(data: dict[str, str]):
    written = json.dumps(data, ensure_ascii=False).encode()
    assert controls_in(written) or all_without_controls(data) == data


def test_every_character_is_kept_or_replaced_as_unicode_says():
    every = [chr(at) for at in range(sys.maxunicode + 1)]
    replaced = {char for char in every if without_controls(char) != char}
    controls = {char for char in every if unicodedata.category(char) == "Cc" and char not in "\t\n\r"}
    assert replaced == controls | DIRECTIONS


@given(
    st.text(
        st.characters(
            exclude_categories=("Cc", "Cs"),
            exclude_characters="\\\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
        )
    )
)
def test_nothing_is_suspected_of_what_has_no_control(text: str):
    assert not controls_in(json.dumps({"a": text + "\n\t\r"}, ensure_ascii=False).encode())

"""Fingerprints: equal where only the board differs, other where the opening does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hiring.pairs import HARMFUL, HARMLESS, OPENINGS, Data, first, record, second
from thresher.hiring.fingerprint import DRAWN, Print, firm, likeness, print_of, sketch, words
from thresher.hiring.headline import headline
from thresher.hiring.same_opening import contains

# What changes the fingerprint although the opening is the same: then the text is compared.
LOOSE = {"cut short", "a paragraph more at the end", "framed by the board", "no location"}


def printed(data: Data) -> Print:
    return print_of(record(data))


@pytest.mark.parametrize("name", OPENINGS)
@pytest.mark.parametrize("what", [what for what in HARMLESS if what not in LOOSE])
def test_what_a_board_does_to_a_posting_leaves_its_print_alone(name: str, what: str):
    assert printed(first(name)).exact == printed(HARMLESS[what](name)).exact


@pytest.mark.parametrize("name", OPENINGS)
@pytest.mark.parametrize("what", [what for what in HARMFUL if what != "taken apart by a person"])
def test_another_opening_has_another_print(name: str, what: str):
    assert printed(first(name)).exact != printed(HARMFUL[what](name)).exact


def test_another_place_has_another_print():
    assert printed(first("ward")).exact != printed(second("ward", location="Omaha, NE")).exact
    assert printed(first("ward")).exact != printed(second("ward", location="Remote, US")).exact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Engineer (m/f/d)", "engineer"),
        ("Entwickler:in", "Entwickler (w/m/d)"),
        ("Sr. Engineer", "SENIOR  ENGINEER"),
        ("Engineer #4521", "Engineer (Req. 99812)"),
        ("Engineer - Berlin", "Engineer (Munich)"),
        ("Verkäufer - Pforzheim", "Verkäufer (Wuhan)"),
        ("Frontend Developer", "Front-End Developer"),
        ("Engineer (Remote, US)", "Engineer"),
    ],
)
def test_titles_that_say_the_same_are_one(one: str, other: str):
    assert headline(one) == headline(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Consultant (Agentforce)", "Consultant (Data Cloud)"),
        ("Engineer II", "Engineer III"),
        ("C Developer", "C++ Developer"),
        ("Engineer, Mobile", "Engineer"),  # a city of Alabama
        ("Sales Manager - Enterprise", "Sales Manager - Federal"),
        ("Java Developer (Spring)", "Java Developer"),
        ("Intern 2030", "Intern 2031"),
        ("Nurse", "Nurse (Part-Time)"),
        ("Manager, IT", "Manager, HR"),
        ("Account Executive, East", "Account Executive, West"),
        ("Store 12", "Store 14"),
    ],
)
def test_titles_that_say_something_else_are_two(one: str, other: str):
    assert headline(one) != headline(other)


def test_a_company_is_known_with_and_without_its_domain_and_form():
    assert firm("Jerry") == firm("Jerry.ai") == firm("JERRY, Inc.") != firm("Jerry Foods")


def test_sketches_share_what_texts_share():
    text = words(first("rivets")["description"])
    half = (*text[: len(text) // 2], *words(first("ward")["description"]))
    assert likeness(sketch(text), sketch(text)) == 1.0
    assert likeness(sketch(text), sketch(words(first("tides")["description"]))) < 0.1
    assert 0.05 < likeness(sketch(text), sketch(half)) < 0.9
    assert likeness((), sketch(text)) == 0.0


@given(st.lists(st.sampled_from("abcdefgh"), max_size=80), st.lists(st.sampled_from("abcdefgh"), max_size=80))
def test_sketches_are_bounded_and_likeness_is_a_share(one: list[str], other: list[str]):
    assert len(sketch(one)) <= DRAWN
    assert 0.0 <= likeness(sketch(one), sketch(other)) <= 1.0
    assert likeness(sketch(one), sketch(other)) == likeness(sketch(other), sketch(one))


@given(st.text(max_size=300))
def test_any_text_has_a_print_and_it_is_short(text: str):
    found = printed({"title": text, "company_name": text, "location": text, "description": text})
    assert len(found.exact) == 32
    assert found == printed({"title": text, "company_name": text, "location": text, "description": text})


def test_a_posting_without_anything_has_a_print_too():
    assert len(printed({"title": None, "description": 7}).exact) == 32


WORDS = [f"w{at}" for at in range(120)]


@given(st.integers(12, 108))
def test_the_beginning_of_a_text_is_a_part_of_it(cut: int):
    assert contains(WORDS[:cut], WORDS)


@given(st.integers(109, 119))
def test_a_text_without_the_last_few_words_is_none(cut: int):
    assert not contains(WORDS[:cut], WORDS)


@given(st.integers(0, 118))
def test_a_text_with_another_word_is_no_part(at: int):
    assert not contains([*WORDS[:at], "other", *WORDS[at + 1 :]], [*WORDS, "and", "more"])


@given(st.integers(1, 119), st.integers(1, 11))
def test_a_few_words_put_in_make_another_text(at: int, count: int):
    assert not contains(WORDS, [*WORDS[:at], *["other"] * count, *WORDS[at:]])


@given(st.integers(5, 110), st.integers(12, 60))
def test_a_paragraph_put_in_does_not(at: int, count: int):
    assert contains(WORDS, [*WORDS[:at], *(f"other{each}" for each in range(count)), *WORDS[at:]])


@given(st.lists(st.sampled_from("ab"), max_size=200), st.lists(st.sampled_from("ab"), max_size=200))
def test_being_a_part_does_not_depend_on_the_order_of_the_question(one: list[str], other: list[str]):
    assert len(one) == len(other) or contains(one, other) == contains(other, one)

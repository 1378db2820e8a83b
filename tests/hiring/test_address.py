"""Two addresses of one page are recognised by its number, and a number is not seen where there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.keys import canonical_url
from thresher.hiring.row import number_in, print_of_address


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://acme.example/careers/4711-smith", "https://acme.example/careers/4711-senior-smith"),
        ("https://acme.example/careers/smith-4711", "https://acme.example/careers/senior-smith-4711"),
        (
            "https://acme.example/careers/smith_4711.html",
            "https://acme.example/careers/senior-smith_4711.html",
        ),
        ("https://acme.example/careers/4711/smith", "https://acme.example/careers/4711/senior-smith"),
        (
            "https://acme.example/j/0b6e7a1c-1111-4222-8333-444455556666-smith",
            "https://acme.example/j/0b6e7a1c-1111-4222-8333-444455556666",
        ),
        (
            "https://acme.example/careers/4711-smith/",
            "https://www.acme.example/careers/4711-smiths?utm_source=x",
        ),
    ],
)
def test_other_words_around_the_same_number_are_the_same_page(one, other):
    assert number_of(one) == number_of(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://acme.example/careers/4711-smith", "https://acme.example/careers/4712-smith"),
        ("https://acme.example/careers/4711-smith", "https://acme.example/news/4711-smith"),
        ("https://acme.example/careers/4711-smith", "https://other.example/careers/4711-smith"),
    ],
)
def test_another_number_or_another_place_is_another_page(one, other):
    assert number_of(one) != number_of(other)


@pytest.mark.parametrize(
    "path",
    [
        "/careers/smith",
        "/careers/2026-smith",
        "/careers/smith-2025",
        "/2026/smith",
        "/careers/smith-2",
        "/careers/24-hour-nurse",
        "/careers/1000-smith-2000000",
        "/4711/careers/smith",
        "/",
        "",
        "/careers/smith-4711-x",
        "/careers/\u0661\u0662\u0663\u0664-smith",
    ],
)
def test_no_number_is_seen_where_it_could_be_something_else(path):
    assert number_in(path) == ""


@given(st.text(max_size=300))
def test_any_text_has_three_prints_and_none_is_long(url):
    parts = print_of_address(url).split(".")
    assert len(parts) == 3
    assert all(len(part) in (0, 10) for part in parts)


def number_of(url: str) -> str:
    return print_of_address(canonical_url(url)).split(".")[2]

"""Tokens that a company may have chosen: few, whole, and never one that a stranger would have chosen as
well."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.discovery.trial import MAX_SLUGS, slugs
from thresher.hiring.names import COMMON


@pytest.mark.parametrize(
    ("name", "website", "tokens"),
    [
        ("Acme Anvils", "https://www.acme.example/", ("acme", "acmeanvils", "acme-anvils")),
        ("Acme Anvils, Inc.", None, ("acmeanvils", "acme-anvils")),
        ("The Acme Company", None, ("acme",)),
        (
            "Müller & Söhne GmbH & Co. KG",
            None,
            ("mullersohne", "muller-sohne", "muellersoehne", "mueller-soehne"),
        ),
        ("Ørsted A/S", None, ("orsted",)),
        ("S.p.A. Ferrante", None, ("ferrante",)),
        ("O'Hara's Bakery", None, ("oharasbakery", "oharas-bakery")),
        ("Acme", "https://acme.co.uk/about", ("acme",)),
        ("Acme", "acme.example", ("acme",)),
        (None, "https://acme.example/", ("acme",)),
    ],
)
def test_a_company_is_tried_by_its_host_and_by_its_whole_name(name, website, tokens):
    assert slugs(name, website)[: len(tokens)] == tokens


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "name",
    [
        "HP",
        "3M",
        "AB",
        "National",
        "The National Group",
        "Global Solutions",
        "Data Systems Inc.",
        "42",
        "1-800",
        "",
        "株式会社",
        "!",
    ],
)
def test_a_name_that_sets_nobody_apart_is_never_tried(name):
    assert slugs(name) == ()


@pytest.mark.promise(7)
def test_the_first_word_of_a_long_name_is_never_tried():
    assert "national" not in slugs("National Grid")
    assert "summit" not in slugs("Summit Anvils", "https://www.summit.example/")
    assert "maple" not in slugs("Maple Water")


def test_the_host_of_a_platform_is_nobodys_name():
    assert slugs(None, "https://jobs.lever.co/borealis") == ()
    assert slugs("Borealis", "https://borealis.recruitee.com/") == ("borealis",)


@pytest.mark.parametrize(
    "website",
    [
        "",
        "http://",
        "not an address",
        "https://127.0.0.1/",
        "https://[::1]/",
        "ftp://acme.example",
        "https://uk",
    ],
)
def test_a_website_that_is_none_gives_no_token(website):
    assert slugs(None, website) == ()


@given(
    st.text(max_size=400),
    st.one_of(st.none(), st.text(max_size=60), st.sampled_from(["https://acme.example", "https://co.uk"])),
)
def test_whatever_a_company_is_called_the_tokens_are_few_and_fit_into_an_address(name, website):
    found = slugs(name, website)
    assert len(found) <= MAX_SLUGS
    assert len(set(found)) == len(found)
    for token in found:
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", token)
        assert len(token.replace("-", "")) >= 3
        assert token not in COMMON


def test_a_name_without_end_takes_no_time():
    assert slugs("a." * 5_000_000 + "acme") == slugs("a." * 5_000_000)

"""Addresses taken apart as browsers do it."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.core.errors import InvalidUrl
from thresher.reading.values.addresses import Address, read_address, registered_domain


def test_the_parts_are_those_of_the_standard():
    found = read_address("HTTPS://Ann:pw@Shop.Example.co.uk:8443/a/../b c?q=ü#top")
    assert (found.protocol, found.username, found.password) == ("https:", "Ann", "pw")
    assert (found.host, found.hostname, found.port) == (
        "shop.example.co.uk:8443",
        "shop.example.co.uk",
        "8443",
    )
    assert (found.pathname, found.search, found.hash) == ("/b%20c", "?q=%C3%BC", "#top")
    assert found.origin == "https://shop.example.co.uk:8443"


def test_one_page_has_one_spelling_and_one_key():
    one, other = (
        read_address("http://A.example:80/x/./y?b=2&a=1&utm_source=m#f"),
        read_address("http://a.example/x/y?a=1&b=2"),
    )
    assert (one.canonical, one.key) == (other.canonical, other.key)


def test_a_relative_address_wants_its_base():
    assert read_address("../c?d", "https://a.example/x/y/z").href == "https://a.example/x/c?d"
    with pytest.raises(InvalidUrl, match="give its base"):
        read_address("../c?d")


def test_what_cannot_be_followed_has_parts_and_no_key():
    found = read_address("mailto:ann@a.example")
    assert (found.protocol, found.canonical, found.key, found.domain) == ("mailto:", None, None, None)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("jobs.example.co.uk", "example.co.uk"),
        ("a.b.example.com", "example.com"),
        ("co.uk", None),
        ("127.0.0.1", None),
        ("[::1]", None),
        ("localhost", None),
        ("", None),
        ("example.github.io", "github.io"),
    ],
)
def test_the_registered_domain_comes_from_the_list_that_is_installed(host: str, domain: str | None):
    assert registered_domain(host) == domain


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "http://", "http://[::1", "http://a b/", "http://xn--pokxncvks/", "http://1.2.3.4.5.6/"],
)
def test_what_is_no_address_is_refused_with_advice(text: str):
    with pytest.raises(InvalidUrl):
        read_address(text)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "text",
    ["http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://127.1/", "http://①②⑦.0.0.1/"],
)
def test_disguised_numbers_are_the_address_they_mean(text: str):
    assert read_address(text).hostname == "127.0.0.1"


def test_an_encoded_name_that_stands_for_a_name_is_kept():
    assert (
        read_address("https://xn--mnchen-3ya.example/").hostname
        == read_address("https://München.example/").hostname
    )


@pytest.mark.promise(18)
def test_a_long_address_is_refused():
    with pytest.raises(InvalidUrl, match="limit"):
        read_address("https://a.example/" + "x" * 100_000)


@settings(deadline=None)
@given(st.text(max_size=200), st.none() | st.just("https://a.example/b/"))
def test_any_text_is_an_address_or_refused(text: str, base: str | None):
    with suppress(InvalidUrl):
        assert isinstance(read_address(text, base), Address)

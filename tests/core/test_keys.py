import contextlib
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.core import keys
from thresher.core.errors import InvalidUrl
from thresher.core.keys import MAX_URL, REMEMBERED, canonical_url, content_hash, url_key

SAME = {
    "case of scheme and host": ("HTTP://Acme.EXAMPLE/Jobs", "http://acme.example/Jobs"),
    "default port": ("https://acme.example:443/", "https://acme.example/"),
    "other port": ("https://acme.example:8443/", "https://acme.example:8443/"),
    "dot segments": ("http://acme.example/a/./b/../c", "http://acme.example/a/c"),
    "encoded dot segments": ("http://acme.example/a/%2e%2e/c", "http://acme.example/c"),
    "no path": ("http://acme.example", "http://acme.example/"),
    "fragment": ("http://acme.example/a#top", "http://acme.example/a"),
    "tracking": ("http://acme.example/?utm_source=x&id=1&gclid=2&UTM_Medium=y", "http://acme.example/?id=1"),
    "only tracking": ("http://acme.example/?fbclid=2", "http://acme.example/"),
    "lone question mark": ("http://acme.example/?", "http://acme.example/"),
    "sorted query": ("http://acme.example/?b=2&a=1&a=0", "http://acme.example/?a=0&a=1&b=2"),
    "blank value": ("http://acme.example/?b&a=", "http://acme.example/?a=&b="),
    "space": ("http://acme.example/?q=a b", "http://acme.example/?q=a+b"),
    "international name": ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
    "international path": ("http://acme.example/größe", "http://acme.example/gr%C3%B6%C3%9Fe"),
    "backslashes": ("http:\\\\acme.example\\a", "http://acme.example/a"),
    "white space around and inside": (" http://acme.exa\tmple/a\n", "http://acme.example/a"),
    "number as host": ("http://0x7f.1/", "http://127.0.0.1/"),
    "address of six": ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
}


@pytest.mark.parametrize(("written", "canonical"), SAME.values(), ids=SAME)
def test_one_page_has_one_spelling(written, canonical):
    assert canonical_url(written) == canonical
    assert url_key(written) == url_key(canonical)


DIFFERENT = {
    "case of the path": ("http://acme.example/Job", "http://acme.example/job"),
    "scheme": ("http://acme.example/", "https://acme.example/"),
    "a parameter that only looks like tracking": ("http://acme.example/?utm=1", "http://acme.example/"),
    "slash at the end": ("http://acme.example/a", "http://acme.example/a/"),
    "order of values of one name": ("http://acme.example/?a=1&a=2", "http://acme.example/?a=1"),
    "host within credentials": ("http://acme.example@evil.example/", "http://acme.example/"),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_different_pages_have_different_keys(one, other):
    assert url_key(one) != url_key(other)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "hostile",
    [
        "",
        " ",
        "acme.example/jobs",
        "/jobs",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://acme.example/",
        "data:text/html,x",
        "http://",
        "http://a b/",
        "http://[::1",
        "http://acme.example:99999/",
        "http://%00/",
        "http://acme.example/\ud800",
        "http://" + "a" * 9_000,
        "http://acme.example/" + "ö" * 3_000,
    ],
    ids=lambda url: url[:30].encode("unicode_escape").decode() or "empty",
)
def test_what_is_not_a_web_address_is_refused(hostile):
    with pytest.raises(InvalidUrl):
        canonical_url(hostile)


def test_a_refusal_says_what_to_write():
    with pytest.raises(InvalidUrl, match="write it in full, as in https://"):
        canonical_url("acme.example")


TEXT = st.text(st.one_of(st.characters(), st.sampled_from(string.punctuation + " %+&=;?#/\\")), max_size=40)


@given(
    host=st.sampled_from(["acme.example", "bücher.example", "127.1", "[::1]"]),
    path=TEXT,
    query=TEXT,
    fragment=TEXT,
)
@example(host="acme.example", path="a/../..//b", query="a=%FF&b=%zz&c=%26", fragment="")
def test_the_canonical_spelling_is_its_own_canonical_spelling(host, path, query, fragment):
    try:
        once = canonical_url(f"http://{host}/{path}?{query}#{fragment}")
    except InvalidUrl:
        return
    assert canonical_url(once) == once
    assert once.isascii()
    assert len(once) <= MAX_URL


@given(st.text(max_size=60))
def test_no_text_whatever_raises_anything_but_a_refusal(text):
    with contextlib.suppress(InvalidUrl):
        canonical_url(text)


def test_a_key_has_a_fixed_size_and_a_hash_is_the_content():
    assert len(url_key("http://acme.example/" + "a" * 5_000)) == 32
    assert content_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_long_addresses_are_not_remembered():
    """A site may write addresses as long as it likes; short ones are remembered by the thousand."""
    before = keys._known.cache_info().currsize
    for number in range(20):
        long = f"https://acme.example/{number}/{'x' * REMEMBERED}"
        assert canonical_url(long) == long
    assert keys._known.cache_info().currsize == before


@given(st.text(string.ascii_letters + "/.%2f:@ \t\uff1f\uff03é", max_size=30))
def test_an_address_without_a_query_is_spelled_as_if_it_had_an_empty_one(path):
    """The short way, for the many addresses that have neither, must not make another spelling."""
    assert canonical_url(f"https://acme.example/{path}") == canonical_url(
        f"https://acme.example/{path.rstrip()}?#"
    )

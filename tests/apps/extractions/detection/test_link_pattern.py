"""Patterns of links: they match their examples, nothing else of the page, and hold nothing unescaped."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.extractions.detection.link_pattern import link_pattern, main_shape, matches

A = "https://a.example"


@pytest.mark.parametrize(
    ("examples", "pattern"),
    [
        ([f"{A}/course/{n}" for n in (1, 22, 333)], r"^https://a\.example/course/\d+$"),
        ([f"{A}/course/{n}-of-{n}" for n in (1, 22, 333)], r"^https://a\.example/course/\d+[-_.,][^/?#&]+$"),
        ([f"{A}/p/{w}.html" for w in ("ash", "oak", "elm")], r"^https://a\.example/p/[^/?#&]+\.html$"),
        ([f"{A}/v?cat=3&id={n}" for n in (1, 2, 3)], r"^https://a\.example/v\?cat=3&id=\d+$"),
        ([f"{A}/{d}/{w}" for d in "xyz" for w in ("ash", "oak")], r"^https://a\.example/[^/?#&]+/[^/?#&]+$"),
        ([f"{A}/c/ash", f"{A}/c/oak/"], r"^https://a\.example/c/[^/?#&]+/?$"),
        (["http://a.example/c/ash", f"{A}/c/oak"], r"^https?://a\.example/c/[^/?#&]+$"),
    ],
)
def test_what_examples_share_is_kept_and_the_rest_is_the_narrowest_shape(examples: list[str], pattern: str):
    assert link_pattern(examples) == pattern


def test_a_menu_link_of_the_same_shape_is_ruled_out_by_name():
    examples = [f"{A}/c/{word}" for word in ("ash", "oak", "elm")]
    pattern = link_pattern(examples, [f"{A}/c/all", f"{A}/about"])
    assert pattern is not None
    assert all(matches(pattern, url) for url in (*examples, f"{A}/c/yew"))
    assert not matches(pattern, f"{A}/c/all")
    assert not matches(pattern, f"{A}/about")


def test_a_few_rows_of_another_kind_become_alternatives_of_their_own():
    examples = [*(f"{A}/course/{n}" for n in range(8)), f"{A}/go/17", f"{A}/members/4"]
    pattern = link_pattern(examples, [f"{A}/account/login"])
    assert pattern is not None
    assert all(matches(pattern, url) for url in (*examples, f"{A}/go/99"))
    assert not matches(pattern, f"{A}/news/99")
    assert main_shape(examples) == examples[:8]


def test_there_is_no_pattern_for_links_that_have_nothing_in_common():
    assert link_pattern([f"https://{word}.example/{word}" for word in "abcdefgh"]) is None
    assert link_pattern([]) is None
    assert link_pattern(["javascript:void(0)", "mailto:a@b.example"]) is None


def test_other_spellings_of_an_address_match_too():
    pattern = link_pattern([f"{A}/v?b=1&a={n}" for n in (1, 2, 3)])
    assert pattern is not None
    assert matches(pattern, f"{A}/v?utm_source=mail&a=7&b=1#top")


@pytest.mark.promise(15)
@pytest.mark.parametrize("evil", ["(a+)+$", "[", "\\", "x|.*", "(?=", "a{99999}", "%28%29", "é", "$^"])
def test_page_text_never_reaches_a_pattern_unescaped(evil: str):
    pattern = link_pattern([f"{A}/{evil}/{n}" for n in range(5)])
    assert pattern is not None
    re.compile(pattern)
    assert matches(pattern, f"{A}/{evil}/77")
    assert not matches(pattern, f"{A}/anything/77")


def test_a_hundred_thousand_links_are_compared_in_a_moment():
    start = time.process_time()
    pattern = link_pattern(
        (f"{A}/item/{n}" for n in range(100_000)), (f"{A}/menu/{n}/x" for n in range(100_000))
    )
    assert pattern == r"^https://a\.example/item/\d+$"
    assert time.process_time() - start < 5


@given(
    st.lists(st.from_regex(r"[a-z0-9.()*+?\[\]|^-]{1,12}", fullmatch=True), min_size=1, max_size=20),
    st.data(),
)
def test_a_pattern_matches_its_examples_and_none_of_the_others(words: list[str], data: st.DataObject):
    urls = [f"{A}/list/{word}" for word in words]
    wanted = data.draw(st.lists(st.sampled_from(urls), min_size=1, unique=True))
    others = [url for url in urls if url not in wanted]
    pattern = link_pattern(wanted, others)
    if pattern is not None:
        assert all(matches(pattern, url) for url in wanted)
        spelled = set(main_shape(wanted)) | set(wanted)
        assert not any(
            matches(pattern, url) for url in others if url not in spelled and not _same(url, wanted)
        )


def _same(url: str, wanted: list[str]) -> bool:
    """`/list/.` is `/list/`: two spellings of one address are one."""
    from thresher.core.keys import canonical_url  # noqa: PLC0415

    return canonical_url(url) in {canonical_url(each) for each in wanted}

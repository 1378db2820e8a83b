"""The key of a price point: the source's id, else what the listing says, and nothing that a stranger writes
makes two listings one."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.listings import listing
from thresher.apps.prices.dedupe import dedupe_key, normalised_title, normalised_url
from thresher.apps.prices.model import Listing, PriceType
from thresher.core.clock import DAY

AT = 1_772_000_000_000_000  # 2026-02-25


def key(**others: Any) -> str:
    said: dict[str, Any] = {"external_id": None}
    return dedupe_key(listing(**(said | others)), AT)


def test_the_id_of_the_source_is_the_key_as_it_is() -> None:
    assert dedupe_key(listing(external_id="v1|110553|0"), AT) == "ext_v1|110553|0"
    assert (
        dedupe_key(listing(external_id="v1|110553|0", amount=9, title="other"), AT + DAY) == "ext_v1|110553|0"
    )


def test_without_an_id_the_key_is_a_hash_of_sixteen_digits() -> None:
    found = key()
    assert found.startswith("hash_")
    assert len(found) == len("hash_") + 16
    assert set(found.removeprefix("hash_")) <= set("0123456789abcdef")
    assert key(external_id="") == found


def test_query_fragment_case_and_spaces_make_no_difference() -> None:
    plain = key(url="https://bay.example/itm/1", title="morgan dollar")
    assert key(url="https://BAY.example:443/itm/1?a=1#top", title="  Morgan \t\n DOLLAR ") == plain
    assert normalised_title(" A \u00a0 b\r\nC ") == "a b c"
    assert normalised_url("HTTPS://Bay.Example/A/../b?x#y") == "https://bay.example/b"
    assert normalised_url("no address?x") == "no address"


@pytest.mark.parametrize(
    "other",
    [
        {"url": "https://bay.example/itm/2"},
        {"url": None},
        {"title": "1921-S Morgan dollar"},
        {"amount": 4_501},
        {"currency": "EUR"},
        {"price_type": PriceType.SOLD},
        {"listed_on": date(2026, 2, 24)},
    ],
)
def test_each_part_of_what_a_listing_says_makes_a_difference(other: dict[str, object]) -> None:
    assert key(**other) != key()


def test_the_day_is_that_of_the_listing_else_of_the_observation_in_utc() -> None:
    late, early = (listing(external_id=None, listed_on=each) for each in (None, date(2026, 2, 25)))
    midnight = AT - AT % DAY
    assert (
        dedupe_key(late, midnight) == dedupe_key(late, midnight + DAY - 1) == dedupe_key(early, AT + 9 * DAY)
    )
    assert dedupe_key(late, midnight - 1) != dedupe_key(late, midnight)


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "hostile", ["x" * 100_000, "a\x00b", "a\nb", "\x1b[2J", "\ud800", "\u202eabc", "é" * 150]
)
def test_an_id_that_no_column_takes_is_hashed_and_looks_like_no_other(hostile: str) -> None:
    found = dedupe_key(listing(external_id=hostile), AT)
    assert found.startswith("exth_")
    assert found.isascii()
    assert len(found) == len("exth_") + 64
    assert dedupe_key(listing(external_id=found), AT) == f"ext_{found}"
    assert dedupe_key(listing(external_id=hostile + "x"), AT) != found


@pytest.mark.promise(2)
def test_no_id_looks_like_a_hash_of_another_listing() -> None:
    hashed = key()
    assert dedupe_key(listing(external_id=hashed), AT) != hashed
    assert dedupe_key(listing(external_id=hashed.removeprefix("hash_")), AT) != hashed


texts = st.text(st.characters(codec=None), max_size=20)


@pytest.mark.promise(2)
@given(
    st.tuples(texts, st.none() | texts, st.none() | texts),
    st.tuples(texts, st.none() | texts, st.none() | texts),
)
def test_separators_inside_the_fields_join_no_two_listings(
    one: tuple[str, str | None, str | None], other: tuple[str, str | None, str | None]
) -> None:
    def said(each: tuple[str, str | None, str | None]) -> tuple[object, ...]:
        return normalised_title(each[0]), normalised_url(each[1]), each[2]

    keys = [dedupe_key(Listing(each[0], PriceType.ASK, 1, each[2], url=each[1]), AT) for each in (one, other)]
    assert (keys[0] == keys[1]) == (said(one) == said(other))


def test_words_moved_from_one_field_to_the_next_are_another_listing() -> None:
    assert key(title='x","y', url="z") != key(title="x", url='y","z')
    assert key(title="a b", url=None) != key(title="a", url="b")


@pytest.mark.promise(18)
def test_an_amount_that_fits_no_column_still_has_a_key() -> None:
    assert key(amount=10**40) != key(amount=10**40 + 1)

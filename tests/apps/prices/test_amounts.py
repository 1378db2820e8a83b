"""Amounts as people write and read them: exact, with the decimals of their currency, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.amounts import amount_of, checked_currency, minor_of, share_of
from thresher.core.errors import UsageError
from thresher.reading.values.currency import CODES


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("45", "USD", 4_500),
        ("45.5", "USD", 4_550),
        (" 0.05 ", "EUR", 5),
        ("1200", "JPY", 1_200),
        ("1.234", "KWD", 1_234),
    ],
)
def test_an_amount_is_read_in_the_smallest_unit(text, currency, minor):
    assert minor_of(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("1,500", "USD"),
        ("1.5", "JPY"),
        ("1.234", "USD"),
        ("", "USD"),
        ("-5", "USD"),
        ("$5", "USD"),
        ("nan", "USD"),
        ("1e9", "USD"),
        ("٣", "USD"),
        ("9" * 400, "USD"),
        ("999999999999999", "USD"),
        ("5\x00", "USD"),
    ],
)
def test_what_is_no_plain_number_is_refused_with_an_example(text, currency):
    with pytest.raises(UsageError, match=r"such as|limit") as told:
        minor_of(text, currency)
    assert len(str(told.value)) < 200


@given(st.integers(0, 10**15), st.sampled_from(sorted(CODES)))
def test_what_is_written_is_read_back(minor, currency):
    assert minor_of(amount_of(minor, currency).amount, currency) == minor


def test_an_amount_is_shown_with_its_currency_and_decimals():
    assert str(amount_of(123_456, "USD")) == "1,234.56 USD"
    assert str(amount_of(123_456, "JPY")) == "123,456 JPY"
    assert str(amount_of(123_456, "KWD")) == "123.456 KWD"


def test_a_currency_is_a_code_of_iso():
    assert checked_currency(" usd ") == "USD"
    for text in ("dollars", "", "US", "\x1b[31m"):
        with pytest.raises(UsageError, match="USD, EUR or JPY"):
            checked_currency(text)


def test_a_change_is_a_percentage():
    assert [share_of(each) for each in ("10%", "10", "2.5 %", "0.1")] == [100, 100, 25, 1]
    for text in ("0", "0%", "ten", "-5%", "1e3", "2.55%"):
        with pytest.raises(UsageError, match=r"10% or 2\.5%"):
            share_of(text)

"""Exchange rates: files that are read or refused by line, and exact conversion with the rate of the day."""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.rates import MAX_RATE_TEXT, DayRate, Rates, read_rates_file
from thresher.core.errors import UsageError

FRIDAY = date(2026, 11, 13)
WIDE = "Date,USD,JPY,KWD,\n2026-11-13,1.10,160.5,0.34,\n2026-11-12,1.08,N/A,0.33,\n"


def rates(text: str = WIDE, base: str = "EUR", max_age: int = 7) -> Rates:
    return Rates.of(base, read_rates_file(text, "rates.csv", base), max_age)


@pytest.mark.parametrize(
    ("minor", "currency", "into", "expected"),
    [
        (10_000, "EUR", "USD", 11_000),  # 100.00 EUR
        (11_000, "USD", "EUR", 10_000),
        (10_000, "EUR", "JPY", 16_050),  # yen have no smaller unit
        (16_050, "JPY", "EUR", 10_000),
        (10_000, "EUR", "KWD", 34_000),  # 34.000 dinars: three digits
        (34_000, "KWD", "USD", 11_000),  # through the base
        (1, "JPY", "KWD", 2),  # 0.00211... dinars
        (100, "EUR", "EUR", 100),
        (100, "PLN", "PLN", 100),  # its own currency needs no rate
        (100, "PLN", "EUR", None),
        (100, "EUR", "PLN", None),
    ],
)
def test_an_amount_is_converted_with_the_digits_of_both_currencies(
    minor: int, currency: str, into: str, expected: int | None
) -> None:
    assert rates().convert(minor, currency, into, FRIDAY) == expected


def test_a_half_is_rounded_up() -> None:
    half = Rates.of("EUR", [DayRate(FRIDAY, "USD", Decimal("0.5"))])
    assert [half.convert(minor, "EUR", "USD", FRIDAY) for minor in (1, 3, 5)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("days", "expected"), [(-1, 10_800), (0, 11_000), (1, 11_000), (7, 11_000), (8, None), (-2, None)]
)
def test_the_last_rate_holds_for_so_many_days_and_never_backwards(days: int, expected: int | None) -> None:
    assert rates().convert(10_000, "EUR", "USD", FRIDAY + timedelta(days)) == expected


def test_a_rate_that_is_missing_on_one_day_is_that_of_the_day_before() -> None:
    text = "day,currency,rate\n2026-11-12,SEK,11.5\n2026-11-13,USD,1.10\n"
    assert rates(text).convert(11_000, "USD", "SEK", FRIDAY) == 115_000


@pytest.mark.parametrize(
    "text",
    [
        "day,currency,rate\n2026-11-13,USD,1.10\n",
        "\ufeffDate;Currency;Rate\r\n2026-11-13;usd;1,10\r\n",
        "date\tcode\tnote\tvalue\n13 November 2026\tUSD\tfixing\t1.10\n",
        'Date,USD,\n"2026-11-13","1.10",\n\n',
        "Datum,USD\n13 November 2026,1.10\n",
        "Date,EUR,USD\n2026-11-13,1,1.1000\n",
    ],
)
def test_a_file_has_a_line_for_each_rate_or_a_column_for_each_currency(text: str) -> None:
    assert read_rates_file(text, "rates.csv", "EUR") == [DayRate(FRIDAY, "USD", Decimal("1.10"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the first column must be the day"),
        ("USD,JPY\n1,2\n", "line 1: the first column must be the day"),
        ("Date,USD\n", "has no rates"),
        ("Date,USD,GOLD\n2026-11-13,1,2\n", "line 1: 'GOLD' is no currency"),
        ("day,currency,rate\n2026-11-13,XYZ,1\n", "line 2: 'XYZ' is no currency"),
        ("day,currency,rate\n\n2026-11-13,USD\n", "line 3: has 2 values"),
        ("Date,USD\n2026-11-13,1,2,3\n", "line 2: has 4 values; the header has 2"),
        ("Date,USD\n13/11/2026,1\n", "line 2: '13/11/2026' is no day"),
        ("Date,USD\n2026-13-11,1\n", "line 2: '2026-13-11' is no day"),
        ("Date,USD\n2026-11-13,one\n", "line 2: 'one' is no rate"),
        ("Date,USD\n2026-11-13,NaN\n", "line 2: 'NaN' is no rate"),
        ("Date,USD\n2026-11-13,Infinity\n", "line 2: 'Infinity' is no rate"),
        ("Date,USD\n2026-11-13,0\n", "line 2: a rate of 0 is not believed"),
        ("Date,USD\n2026-11-13,-1.1\n", "line 2: a rate of -1.1 is not believed"),
        ("Date,USD\n2026-11-13,1e400\n", "line 2: a rate of 1e400 is not believed"),
        (f"Date,USD\n2026-11-13,{'1' * MAX_RATE_TEXT}1\n", "is no rate"),
        ("Date,EUR\n2026-11-13,1.1\n", "line 2: 1 EUR cannot be worth 1.1 EUR"),
        (
            "day,currency,rate\n2026-11-13,USD,1.1\n2026-11-13,USD,1.2\n",
            "line 3: USD on 2026-11-13 is 1.2 here and 1.1 in line 2",
        ),
        ('Date,USD\n2026-11-13,"1.1\n', "line 2: unexpected end of data"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=r"^rates\.csv") as raised:
        read_rates_file(text, "rates.csv", "EUR")
    assert message in str(raised.value)


def test_a_base_that_is_no_currency_is_refused() -> None:
    with pytest.raises(UsageError, match="'Euro' is no currency"):
        read_rates_file(WIDE, "rates.csv", "Euro")


MONEY = st.integers(0, 10**12)
RATE = st.decimals("0.0001", "100000", allow_nan=False, allow_infinity=False, places=4).filter(bool)


@given(MONEY, RATE, RATE)
def test_conversion_is_exact_to_half_a_unit(minor: int, one: Decimal, other: Decimal) -> None:
    held = Rates.of("EUR", [DayRate(FRIDAY, "JPY", one), DayRate(FRIDAY, "KWD", other)])
    found = held.convert(minor, "JPY", "KWD", FRIDAY)
    exact = Fraction(minor) * Fraction(other) / Fraction(one) * 1_000
    assert found is not None
    assert Fraction(-1, 2) <= exact - found < Fraction(1, 2)


@given(MONEY, MONEY, RATE)
def test_a_larger_amount_never_becomes_a_smaller_one(first: int, second: int, rate: Decimal) -> None:
    held = Rates.of("EUR", [DayRate(FRIDAY, "USD", rate)])
    small, large = (held.convert(each, "EUR", "USD", FRIDAY) for each in sorted((first, second)))
    assert small is not None
    assert large is not None
    assert small <= large

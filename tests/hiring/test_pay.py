"""What is paid, among all the sums that are not."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring import pay
from thresher.hiring.finding import flat
from thresher.hiring.pay import in_text, of_field


def yearly(text: str, country: str | None = None) -> tuple[int | None, int | None, str | None] | None:
    found = in_text(flat(text), text, country=country)
    return None if found is None else (found.value.year_low, found.value.year_high, found.value.currency)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("The base salary range is $120,000 - $150,000 plus equity.", (120_000, 150_000, "USD")),
        ("Pay range: $120k–$150k", (120_000, 150_000, "USD")),
        ("€60.000 - €75.000", (60_000, 75_000, "EUR")),
        ("Salary: 60-75K", (60_000, 75_000, None)),
        ("$45/hr", (93_600, 93_600, "USD")),
        ("The hourly rate is $18 - $22", (37_440, 45_760, "USD")),
        ("3.500 € brutto im Monat", (42_000, 42_000, "EUR")),
        ("Gehalt: 55.000 bis 65.000 Euro", (55_000, 65_000, "EUR")),
        ("CHF 110'000 - 130'000", (110_000, 130_000, "CHF")),
        ("salary of £45,000", (45_000, 45_000, "GBP")),
        ("Compensation: 120,000 - 150,000 USD", (120_000, 150_000, "USD")),
        ("CTC 12-18 LPA", (1_200_000, 1_800_000, "INR")),
        ("up to $150,000 per year", (None, 150_000, "USD")),
        ("salary from $90,000", (90_000, None, "USD")),
        ("between $90,000 and $110,000 annually", (90_000, 110_000, "USD")),
        ("The annual base salary range is **$152,000**–**$190,000**", (152_000, 190_000, "USD")),
        ("CAD $65,500 - $92,000", (65_500, 92_000, "CAD")),
        ("is$131,000—$185,000 USD a year", (131_000, 185_000, "USD")),
        ("Salary: $120,000 - $150,000 + bonus and stock", (120_000, 150_000, "USD")),
        ("Day rate: £400 - £500 per day", (104_000, 130_000, "GBP")),
    ],
)
def test_pay_is_read_as_it_is_written(text: str, meant: tuple[int | None, int | None, str | None]):
    assert yearly(text) == meant


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "text",
    [
        "401k match",
        "401(k) with 4% match, $5,000 a year at most",
        "We raised $5M in funding",
        "backed by $50,000,000 of venture capital",
        "a bonus of 10%",
        "annual bonus of $10,000",
        "sign-on bonus up to $5,000",
        "25k users",
        "Salary DOE",
        "Competitive salary and 401(k)",
        "a $1,000 learning stipend",
        "You close deals of $50k-$100k",
        "$200 - $500 gift card",
        "We saved customers $50,000 - $100,000",
        "Our clients manage $2 billion",
        "equity worth $20,000 - $40,000",
        "referral bonus $2,500",
        "Our compensation platform serves 100,000 people",
        "the pay of 40,000 nurses",
        "a $75 per day meal allowance",
        "Salary survey 2030 - 2031",
        "",
    ],
)
def test_other_sums_are_no_pay(text: str):
    assert yearly(text) is None


def test_ranges_for_each_level_are_one_range_from_the_least_to_the_most():
    text = "Level 3: $120,000 - $140,000\nLevel 4: $150,000 - $180,000"
    assert yearly(text) == (120_000, 180_000, "USD")
    found = in_text(flat(text), text)
    assert found is not None
    assert (
        found.value.text
        == text[found.start : found.end]
        == "$120,000 - $140,000\nLevel 4: $150,000 - $180,000"
    )


def test_the_base_is_taken_before_what_may_be_earned_on_top():
    assert yearly("Base salary $120k-$140k. OTE $200k-$240k") == (120_000, 140_000, "USD")


def test_a_second_currency_is_left_alone():
    assert yearly("$120,000-$150,000 USD or €90,000-€110,000") == (120_000, 150_000, "USD")


def test_a_bare_dollar_is_that_of_the_country():
    assert yearly("Salary: $90,000 - $100,000", "CA") == (90_000, 100_000, "CAD")
    assert yearly("Salary: US$90,000 - US$100,000", "CA") == (90_000, 100_000, "USD")


def test_a_small_sum_without_a_span_of_time_is_no_years_pay():
    found = in_text(flat("Pay: $18-$22"), "Pay: $18-$22")
    assert found is not None
    assert (found.value.low, found.value.high, found.value.year_low) == (Decimal(18), Decimal(22), None)


def test_the_field_of_a_posting_is_read_by_its_numbers_or_else_by_its_words():
    numbers = of_field(
        {"low": "45.5", "high": None, "currency": "usd", "period": "hourly", "text": "45.5 an hour"}
    )
    assert numbers is not None
    assert (numbers.year_low, numbers.year_high, numbers.currency) == (94_640, 94_640, "USD")
    words = of_field({"text": "60-75K"})
    assert words is not None
    assert (words.year_low, words.year_high) == (60_000, 75_000)
    assert of_field("Competitive") is None
    assert of_field({"low": 0, "high": 0}) is None
    assert of_field(17) is None


def test_a_number_that_no_year_pays_is_kept_and_not_counted_in_years():
    found = of_field({"low": 95, "high": 120, "currency": "USD", "period": "year"})
    assert found is not None
    assert (found.low, found.year_low) == (Decimal(95), None)


@pytest.mark.parametrize(("pattern", "words"), [(pay._PAID, pay._PAID_WORDS), (pay._PAYING, pay._PAY_WORDS)])
@given(data=st.data())
def test_whatever_speaks_of_pay_has_one_of_the_words_that_are_looked_for_first(pattern, words, data):
    said = data.draw(st.from_regex(pattern))
    assert pay._has(words, said)

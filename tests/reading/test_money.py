"""Prices as shops write them, and everything that looks like one and is none."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.values.money import NoPrice, Price, read_price


def price(text: str, hint: str | None = None) -> Price:
    found = read_price(text, currency_hint=hint)
    assert isinstance(found, Price), found
    return found


def reason(text: str, hint: str | None = None) -> str:
    found = read_price(text, currency_hint=hint)
    assert isinstance(found, NoPrice), found
    return found.reason


@pytest.mark.parametrize(
    ("text", "minor", "currency"),
    [
        ("1.234,56 €", 123456, "EUR"),
        ("£1,234.56", 123456, "GBP"),
        ("1 234,56 zł", 123456, "PLN"),
        ("1\N{NO-BREAK SPACE}234,56\N{NARROW NO-BREAK SPACE}€", 123456, "EUR"),
        ("CHF 1'234.56", 123456, "CHF"),
        ("12.345.678 ₫", 12345678, "VND"),
        ("0,5 €", 50, "EUR"),
        (",99 €", 99, "EUR"),
        ("€ .99", 99, "EUR"),
        ("€7", 700, "EUR"),
        ("€7,-", 700, "EUR"),
        ("12.– CHF", 1200, "CHF"),
        ("1 290,-Kč", 129000, "CZK"),
        ("500/- INR", 50000, "INR"),
        ("₹ 12,34,567.50", 123456750, "INR"),
        ("2.499 €", 249900, "EUR"),
        ("0.125 €", 13, "EUR"),
        ("USD 10", 1000, "USD"),
        ("10 eur", 1000, "EUR"),
        ("20 pounds", 2000, "GBP"),
        ("350 тг", 35000, "KZT"),
        ("R450.00", 45000, "ZAR"),
        ("RM12.90", 1290, "MYR"),
    ],
)
def test_decimals_and_groups_are_read_as_their_country_writes_them(text: str, minor: int, currency: str):
    found = price(text)
    assert (found.amount_minor, found.currency, found.certain) == (
        minor,
        currency,
        found.currency != "GBP" or "£" in text,
    )


@pytest.mark.parametrize(
    ("text", "minor", "currency"),
    [
        ("¥1,980", 1980, "JPY"),
        ("1,980 円", 1980, "JPY"),
        ("KWD 1.250", 1250, "KWD"),
        ("1.250 KD", 1250, "KWD"),
        ("2.500 BHD", 2500, "BHD"),
    ],
)
def test_the_smallest_unit_is_that_of_the_currency(text: str, minor: int, currency: str):
    assert (price(text).amount_minor, price(text).currency) == (minor, currency)


@pytest.mark.parametrize(("text", "minor"), [("99¢", 99), ("5 cents", 5), ("80p", 80), ("50 pence", 50)])
def test_cents_are_hundredths(text: str, minor: int):
    assert price(text).amount_minor == minor


@pytest.mark.parametrize("text", ["٣٤٫٥٠ €", "３４.５０ €", "34.50\u200f €"])
def test_digits_of_other_scripts_and_invisible_marks_make_no_difference(text: str):
    assert price(text).amount_minor == 3450


@pytest.mark.promise(14)
def test_a_sign_that_several_countries_use_is_marked_as_doubtful():
    assert (price("$5").currency, price("$5").certain) == ("USD", False)
    assert (price("5 kr").currency, price("5 kr").symbol) == (None, "kr")


def test_a_code_beside_a_doubtful_sign_decides():
    assert [price(text).currency for text in ("$5 CAD", "CAD $5", "A$5", "US $5", "$ SGD5")] == [
        "CAD",
        "CAD",
        "AUD",
        "USD",
        "SGD",
    ]


def test_a_hint_decides_what_the_text_leaves_open_and_no_more():
    assert price("$5", "CAD").currency == "CAD"
    assert price("5 kr", "All prices in SEK").currency == "SEK"
    assert price("12,50", "ab 10 €").currency == "EUR"
    assert price("5 €", "$").currency == "EUR"
    assert price("$5", "EUR").currency == "USD"


@pytest.mark.parametrize(
    "text", ["$10 - $20", "$10-$20", "10–20 €", "10 bis 20 €", "USD 10 to 20", "between $10 and $20"]
)
def test_a_range_has_two_ends(text: str):
    assert (price(text).amount_minor, price(text).high) == (1000, 2000)


def test_a_range_without_a_sign_wants_a_hint():
    assert "several numbers" in reason("10.00 - 20.00")
    assert price("10.00 - 20.00", "GBP").high == 2000


def test_labels_tell_numbers_without_a_sign_apart():
    assert (price("Now 15.00 Was 20.00").amount_minor, price("Now 15.00 Was 20.00").was) == (1500, 2000)


def test_a_falling_pair_is_no_range():
    assert price("$20 - $10").high is None


def test_from_and_up_to_are_bounds():
    assert [
        price(text).bound for text in ("From $10", "ab 10 €", "à partir de 10 €", "up to $500", "$5")
    ] == ["from"] * 3 + ["up to", None]


@pytest.mark.parametrize(
    ("text", "per"),
    [
        ("$3.50/kg", "kg"),
        ("1,99 € pro 100 g", "100 g"),
        ("$25.50 an hour", "hour"),
        ("£45,000 a year", "year"),
        ("$9 per month", "month"),
        ("$5 each", "each"),
    ],
)
def test_what_it_buys_is_kept(text: str, per: str):
    assert price(text).per == per


def test_the_price_of_the_thing_comes_before_that_of_a_kilogram():
    assert price("(4,00 €/kg) 12,00 €").amount_minor == 1200


@pytest.mark.parametrize(
    "text",
    [
        "was $20 now $15",
        "$15 (was $20)",
        "15 € statt 20 €",
        "UVP 20 € 15 €",
        "List: $20.00 Sale: $15.00",
        "antes 20 € ahora 15 €",
    ],
)
def test_the_price_now_is_taken_and_the_one_before_is_told(text: str):
    found = price(text)
    assert (found.amount_minor, found.was) == (1500, 2000)


def test_a_regular_price_alone_is_the_price():
    assert price("Regular price: $20").amount_minor == 2000


def test_a_zero_beside_a_price_is_an_unfilled_template():
    assert price("Was: $20.00 Now: $0.00").amount_minor == 2000
    assert price("$0.00").amount_minor == 0


def test_thousands_and_millions_are_written_out():
    assert [price(text).amount for text in ("$80k", "€1.2M", "1,5 Mio. €")] == [80_000, 1_200_000, 1_500_000]
    assert [price(text).amount for text in ("₹1.5L", "₹ 2 crore", "Rs 3 lakhs")] == [
        150_000,
        20_000_000,
        300_000,
    ]
    assert price("2 L €5").amount == 5


@pytest.mark.parametrize(("text", "minor"), [("$12 99", 1299), ("12€50", 1250), ("8. 94 €", 894)])
def test_cents_that_lost_their_point_in_the_layout_are_found(text: str, minor: int):
    assert price(text).amount_minor == minor


@pytest.mark.parametrize("text", ["Free", "FREE!", "gratis", "Kostenlos", "бесплатно"])
def test_free_costs_nothing(text: str):
    assert price(text).amount_minor == 0


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Free shipping over $50", "shipping"),
        ("Versandkostenfrei ab 50 € Bestellwert, Versand sonst 5 €", "shipping"),
        ("+ $5.99 shipping", "shipping"),
        ("Save $20", "saving"),
        ("$20 off", "saving"),
        ("20% off", "percentage"),
        ("-$20", "deduction"),
        ("orders over $100", "threshold"),
        ("Minimum order $100", "threshold"),
        ("4 payments of $25.00", "instalments"),
        ("Tax: $5", "tax"),
        ("Delivery Charge: $950", "shipping"),
        ("Handling charge: $9", "fee"),
        ("(1)", "count"),
        ("4.5 stars", "rating"),
        ("4.5/5", "rating"),
        ("4.7 out of 5", "rating"),
        ("120 reviews", "rating"),
        ("16.00 ft", "size"),
        ("10 x 20 x 30 cm", "size"),
        ("500 ml", "size"),
        ("(555) 123-4567", "phone"),
        ("+44 20 7946 0000", "phone"),
        ("0800 123 456", "phone"),
        ("12/05/2024", "date"),
        ("2024-05-12", "date"),
        ("12:30", "time"),
        ("15.08.2017", "date"),
        ("v1.2.3", "version"),
        ("192.168.1.1", "version"),
        ("SKU 12345", "code"),
        ("iPhone 12", "other words"),
        ("MP3", "part of a word"),
        ("3 for 2", "several numbers"),
        ("Call for price", "on request"),
        ("Preis auf Anfrage", "on request"),
        ("Sold out", "not for sale"),
        ("Free trial", "no amount"),
        ("FREE returns", "no amount"),
        ("", "empty"),
        ("$", "no amount"),
        ("July, 2004", "other words"),
    ],
)
def test_what_is_no_price_is_not_made_one_and_the_reason_is_given(text: str, says: str):
    assert says in reason(text)


def test_a_price_beside_something_that_is_none_is_still_found():
    texts = [
        "$19.99 + $5.99 shipping",
        "£19.99 free delivery over £50",
        "2.5L 19,99 €",
        "4.5 stars $19.99",
        "19.99 USD (save $5)",
    ]
    assert [price(text).amount_minor for text in texts] == [1999] * 5


def test_the_evidence_is_the_part_that_was_read():
    assert price("Our price today: $19.99, in stock").text == "$19.99"
    assert price(" 12€50 ").text == "12€50"


def test_more_digits_than_the_currency_has_are_kept_in_the_amount():
    found = price("34.9920 GBP")
    assert (found.amount, found.amount_minor) == (Decimal("34.9920"), 3499)


@pytest.mark.promise(18)
def test_a_long_text_is_refused_before_it_is_read():
    assert "1,000,000 characters" in reason("$5 " * 333_333 + "x")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_and_the_evidence_stands_in_it(text: str):
    found = read_price(text, currency_hint=text)
    assert isinstance(found, Price | NoPrice)
    assert found.text in text


@settings(deadline=None)
@given(st.text(alphabet="0123456789.,'’ $€£kr%-–/xX()+:#usdeur", max_size=300))
def test_soup_of_digits_and_signs_is_read_or_refused(text: str):
    found = read_price(text)
    assert isinstance(found, NoPrice) or found.amount >= 0


@settings(deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["EUR", "USD", "JPY", "KWD", "PLN"]))
def test_an_amount_written_out_is_read_back(minor: int, code: str):
    digits = {"JPY": 0, "KWD": 3}.get(code, 2)
    written = f"{Decimal(minor).scaleb(-digits):,f}"
    assert (price(f"{written} {code}").amount_minor, price(f"{code} {written}").amount_minor) == (
        minor,
        minor,
    )


@pytest.mark.parametrize("text", ["$..75", "$.75,333", "$..75,333", "1250€600", "$..75 now $..60"])
def test_digits_that_were_cut_or_glued_together_are_no_price(text: str):
    assert "not grouped like an amount" in reason(text)


@pytest.mark.parametrize(
    ("text", "minor"), [("Rs.75", 7_500), ("12€50", 1_250), ("$.75", 75), ("€5, €6", 500)]
)
def test_points_and_signs_between_digits_that_mean_something_are_read(text: str, minor: int):
    assert price(text).amount_minor == minor


@pytest.mark.parametrize("text", ["2 990 kr/mnd", "kr 2 990 pr. mnd", "2 990 kr/mån"])
def test_a_price_for_a_month_says_so_in_scandinavia_too(text: str):
    assert price(text).per == "month"

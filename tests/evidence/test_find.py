"""Single values, kind by kind: where they stand, and what only looks like them."""

from datetime import date
from typing import Any

import pytest

from thresher.core.evidence import Material, Place
from thresher.core.schema import Field, Kind, Value
from thresher.evidence.find import find


def quote(kind: Kind, value: Value, text: str, **known: Any) -> str | None:
    today = known.pop("today", None)
    place = find(Field("it", kind), value, Material(text, **known), today=today)
    assert place is None or place.start is None or text[place.start : place.end] == place.quote
    return place and place.quote


def path(kind: Kind, value: Value, data: Any, name: str = "it") -> str | None:
    place = find(Field(name, kind), value, Material("", data))
    return place and place.path


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("Senior Engineer", "We seek a SENIOR   engineer now", "SENIOR   engineer"),
        ("Senior Engineer", "Senior  \nEngineer\n\nBerlin", "Senior  \nEngineer"),
        (
            "machine learning",
            "for everybody who has already worked with and on machine\nlearning and likes it",
            "machine\nlearning",
        ),
        ("Zürich", "in Zu\u0308rich", "Zu\u0308rich"),
        ("Zurich", "in Zürich", "Zürich"),
        ("Lodz", "Łódź", "Łódź"),
        ("fine", "ﬁne", "ﬁne"),
        ("R&D lead", "our R&amp;D lead", "R&amp;D lead"),
        ("Acme Corp", "[Acme](https://a.example) **Corp**", "Acme](https://a.example) **Corp"),
        ("snake_case", r"a snake\_case name", r"snake\_case"),
        ("front end", "Front-End", "Front-End"),
        ("email", "E-mail", "E-mail"),
        ("USA", "the U.S.A. today", "U.S.A"),
        ("12GB", "12 GB", "12 GB"),
        ("don’t panic", "Don't panic!", "Don't panic"),
        ("full_time", "Full-time", "Full-time"),
        ("Python, SQL", "- Python\n- SQL\n- Go", "Python\n- SQL"),
        ("a|b", r"| x | a\|b |", r"a\|b"),
        ("東京", "東京で働く", "東京"),
        ("データ エンジニア", "データエンジニア募集", "データエンジニア"),
        ("हिन्दी", "मैं हिन्दी बोलता", "हिन्दी"),
        ("الرياض", "في الرياض اليوم", "الرياض"),
        ("0049 30 1234567", "Tel. 0049/30/1234567", "0049/30/1234567"),
        ("9780306406157", "ISBN 978-0-306-40615-7", "978-0-306-40615-7"),
        ("(555) 123-4567", "call 555.123.4567", "555.123.4567"),
        ("5", "Floor 5", "5"),
        ("no", "Pets: no", "no"),
        ("1234", "1,234 seats", "1,234"),
        ("bob@shop.example", "write to Bob@shop.example.", "Bob@shop.example"),
    ],
)
def test_a_text_is_found_in_other_dress(value: str, text: str, found: str):
    assert quote(Kind.TEXT, value, text) == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("art", "a party"),
        ("5", "4.5 stars"),
        ("5", "15"),
        ("5", "5:30"),
        ("12", "12/05/2024"),
        ("12", "AB-12"),
        ("C", "C++ and C#"),
        ("C++", "C and more"),
        (".NET", "a net of ropes"),
        ("52", "5²"),
        ("51", "5[1]"),
        ("10.5", "105"),
        ("$49", "€49"),
        ("Zürich", "Zurich"),
        ("Аcme", "Acme"),
        ("Shoes Blue", "Red Shoes\n\nBlue Hat"),
        ("Red Shoes Blue Hat", "Red Shoes\n\nBlue Hat"),
        ("Shoes Blue", "- Red Shoes\n- Blue Hat"),
        ("Shoes Blue", "| Red Shoes | Blue Hat |"),
        ("Home Jobs", "Home | Jobs"),
        ("Lamp Colour", "Title: Lamp\nColour: red"),
        ("acme", "https://acme.example/jobs"),
        ("jobs", "[open](https://acme.example/jobs)"),
        ("acme", "acme.example"),
        ("John Smith", "john.smith@acme.example"),
        ("京都", "東京都"),
        ("हन", "हिन्दी"),
        ("は", "ば"),
        ("therapist", "the rapist"),
        ("-", "a - b"),
        ("", "a"),
        ("…", "…"),
    ],
)
def test_what_only_looks_like_a_text_is_not_found(value: str, text: str):
    assert quote(Kind.TEXT, value, text) is None


PASSAGE = (
    "We build **small boats** for [lakes](https://lakes.example).\n\n## You will\n\n- sand and paint hulls\n- sew sails, mostly by hand\n\n"
    "Everybody starts with a week on the water, and nobody has ever wanted to leave."
)


def test_a_long_passage_is_found_over_paragraphs_and_lists():
    told = (
        "We build small boats for lakes. You will: sand and paint hulls; sew sails, mostly by hand. "
        "Everybody starts with a week on the water, and nobody has ever wanted to leave."
    )
    assert quote(Kind.TEXT, told, PASSAGE) == PASSAGE.removesuffix(".")


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("old", "new"),
    [("small", "large"), ("hand", "machine"), ("nobody has", "nobody"), ("mostly by", "mostly all by")],
)
def test_a_long_passage_with_one_word_changed_is_not_found(old: str, new: str):
    assert quote(Kind.TEXT, PASSAGE.replace(old, new), PASSAGE) is None


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        (1234.5, "1,234.5", "1,234.5"),
        (1234.5, "1.234,5", "1.234,5"),
        (1234, "1 234 people", "1 234"),
        (1234567, "12,34,567", "12,34,567"),
        (12000, "12k followers", "12k"),
        (1500000, "1.5 million", "1.5 million"),
        (-7, "−7 °C", "−7"),
        (2.5, "2½ rooms", "2½"),
        (5, "5kg", "5"),
        (4.8, "4.8/5", "4.8"),
        (10, "5-10 people", "10"),
        (35, "٣٥ seats", "٣٥"),
        (10, "ten people", "ten"),
        (3.5, "**3**.5", "3**.5"),
        (1250, "1&nbsp;250 g", "1&nbsp;250"),
        (1.234, "0.5 and 1.234", "1.234"),
        (1234, "0,5 und 1.234", "1.234"),
        (2025, "since 5 March 2025", "2025"),
    ],
)
def test_a_number_is_found_in_any_notation(value: float, text: str, found: str):
    assert quote(Kind.NUMBER, value, text) == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "-5"),
        (-5, "5"),
        (5, "15"),
        (5, "5.5"),
        (12, "12k"),
        (12, "v12"),
        (12, "AB-12"),
        (12, "2024-12-05"),
        (12, "12:30"),
        (12, "12 March 2025"),
        (877, "304-877-6428"),
        (49, "+49 30 1234567"),
        (4, "version 4.12.7"),
        (12, "12,5"),
        (1.234, "1,234 and 0.5"),
        (12, "https://a.example/12"),
        (12, "[x](/12)"),
        (12, "12a34"),
        (234, "1 234"),
        (12000000, "12 m"),
        (True, "1"),
        (float("nan"), "nan"),
        (1, "one of us"),
    ],
)
def test_what_is_part_of_something_else_is_no_number(value: float, text: str):
    assert quote(Kind.NUMBER, value, text) is None


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("1234 USD", "now $1,234.00!", "$1,234.00"),
        ("$1,234.00", "1234 USD", "1234 USD"),
        ("from €5", "€5", "€5"),
        ("$0.99", "99¢", "99¢"),
        ("12,99 €", "12€ 99", "12€ 99"),
        ("$50-60", "$50 - $60 per hour", "$50 - $60"),
        ("$60", "$50-60", "60"),
        ("$50,000 - $60,000", "$50K–$60K a year", "$50K–$60K"),
        ("$60/hour", "$50-60 per hour", "60"),
        ("SEK 100", "100 kr", "100 kr"),
        ("CAD 5", "All prices in CAD. $5", "$5"),
        ("$49", "Price: 49", "49"),
        ("49", "€49", "€49"),
        ("on request", "Price on request", "on request"),
        ("Free", "Entry: free", "free"),
    ],
)
def test_money_is_found_by_amount_and_currency(value: str, text: str, found: str):
    assert quote(Kind.MONEY, value, text) == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("€49", "$49"),
        ("$49", "49 reviews"),
        ("$5", "$5.99"),
        ("$5", "$15"),
        ("CAD 5", "$5"),
        ("$60/hour", "$60/month"),
        ("$60/hour", "$60"),
        ("$50-70", "$50-60"),
        ("$1.23", "$123"),
        ("¥100", "100 kr"),
        ("$5 plus $3 tip", "$5"),
    ],
)
def test_another_amount_currency_or_unit_is_other_money(value: str, text: str):
    assert quote(Kind.MONEY, value, text) is None


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("2025-03-12", "on 12 March 2025", "12 March 2025"),
        ("2025-03-12", "Mar 12th, 2025", "Mar 12th, 2025"),
        ("2025-03-12", "el 12 de marzo de 2025", "12 de marzo de 2025"),
        ("2025-03-12", "2025年3月12日", "2025年3月12日"),
        ("2025-03-12", "12.3.25", "12.3.25"),
        ("2025-03-12", "03/12/2025, not 03/25/2025", "03/12/2025"),
        ("2025-04-10", "5 March 2025 - 10 April 2025", "10 April 2025"),
        ("12. März 2025", "2025-03-12T09:00", "2025-03-12T09:00"),
        ("2025-03", "March 2025", "March 2025"),
        ("2025-03-05", "5–10 March 2025", "5–10 March 2025"),
        ("2025-03-10", "5–10 March 2025", "10 March 2025"),
        ("2025-03-10", "March 5-10, 2025", "March 5-10, 2025"),
        ("2025-12-05", "2025. 12. 5.", "2025. 12. 5."),
        ("03/04/2025", "03/04/2025", "03/04/2025"),
    ],
)
def test_a_date_is_found_in_any_notation(value: str, text: str, found: str):
    assert quote(Kind.DATE, value, text) == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2025-03-13", "12 March 2025"),
        ("2025-03-12", "12 March"),
        ("2025-03-01", "March 2025"),
        ("2025-04-03", "03/04/2025"),
        ("2025-03-12", "posted 3 days ago"),
        ("2025-03-12", "12 March 2024"),
        ("2025-03-07", "5–10 March 2025"),
        ("2025-03-12", "id 20250312-9"),
    ],
)
def test_another_or_a_doubtful_day_is_not_found(value: str, text: str):
    assert quote(Kind.DATE, value, text) is None


def test_days_ago_count_from_the_day_that_is_given():
    assert quote(Kind.DATE, "2025-03-12", "Posted 3 days ago", today=date(2025, 3, 15)) == "Posted 3 days ago"
    assert quote(Kind.DATE, "2025-03-12", "Posted 3 days ago", today=date(2025, 3, 16)) is None
    assert quote(Kind.DATE, "2025-02-15", "Posted a month ago", today=date(2025, 3, 15)) is None


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("https://a.example/c?utm_source=x", "[x](http://a.example/c)", "http://a.example/c"),
        ("/c", "[x](https://site.example/c)", "https://site.example/c"),
        ("https://site.example/c(1)", '[x](/c(1) "title")', "/c(1)"),
        ("https://b.example/", "visit b.example now", "b.example"),
        ("www.b.example", "see www.b.example.", "www.b.example"),
        ("mailto:a@b.example", "[write](mailto:A@b.example)", "mailto:A@b.example"),
        ("https://b.example/x", "at https://b.example/x, or", "https://b.example/x"),
    ],
)
def test_a_link_is_found_by_where_it_leads(value: str, text: str, found: str):
    assert quote(Kind.URL, value, text, url="https://site.example/list") == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("https://a.example/jobs", "[x](https://a.example/jobs/1)"),
        ("https://a.example/x", "a.example"),
        ("https://site.example/list", "list"),
    ],
)
def test_a_link_that_leads_elsewhere_is_not_found(value: str, text: str):
    assert quote(Kind.URL, value, text, url="https://site.example/list") is None


@pytest.mark.promise(14)
def test_a_yes_or_no_is_verified_by_data_under_its_own_name_only():
    assert find(Field("remote", Kind.BOOLEAN), True, Material("remote: true")) is None
    assert path(Kind.BOOLEAN, True, {"job": {"Remote": True}}, "remote") == "$.job.Remote"
    assert path(Kind.BOOLEAN, True, {"job": {"urgent": True}}, "remote") is None
    assert path(Kind.BOOLEAN, True, {"job": {"remote": False}}, "remote") is None


@pytest.mark.promise(14)
def test_an_opinion_is_never_verified():
    assert find(Field("mood", judged=True), "cheerful", Material("cheerful")) is None


def test_a_choice_is_verified_where_its_word_stands():
    field = Field("level", choices=("junior", "senior"))
    assert find(field, "senior", Material("A Senior nurse")) == Place("Senior", 2, 8)
    assert find(field, "junior", Material("A senior nurse")) is None


@pytest.mark.parametrize(
    ("kind", "value", "data", "found"),
    [
        (Kind.TEXT, "Ann Lee", {"a": [{"b": "x"}, {"b": "Ann Lee"}]}, "$.a[1].b"),
        (Kind.NUMBER, 49, {"odd key": 49.0}, "$['odd key']"),
        (Kind.NUMBER, 1.234, {"n": 1.234}, "$.n"),
        (Kind.MONEY, "49 EUR", {"price": 49.0, "priceCurrency": "EUR"}, "$.price"),
        (Kind.DATE, "12 March 2025", {"d": "2025-03-12T08:00:00Z"}, "$.d"),
        (Kind.URL, "/c/1", {"u": "/c/1"}, "$.u"),
        (Kind.INTEGER, 7, {"other": 7, "it": 7}, "$.it"),
        (Kind.TEXT, "sew sails", {"d": "<p>You will</p><p>sew sails</p>"}, "$.d"),
    ],
)
def test_data_is_quoted_by_its_path(kind: Kind, value: Value, data: Any, found: str):
    assert path(kind, value, data) == found


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        (Kind.MONEY, "49 USD", {"price": 49.0, "priceCurrency": "EUR"}),
        (Kind.NUMBER, 1234, {"n": 1.234}),
        (Kind.TEXT, "Ann Lee", {"first": "Ann", "last": "Lee"}),
        (Kind.TEXT, "offers", {"u": "/offers/1"}),
    ],
)
def test_what_the_data_does_not_say_is_not_found_in_it(kind: Kind, value: Value, data: Any):
    assert path(kind, value, data) is None


def test_the_text_is_asked_before_the_data():
    place = find(Field("it"), "Ann", Material("by Ann", {"author": "Ann"}))
    assert place == Place("Ann", 3, 6)
    assert find(Field("it"), "Bob", Material("by Ann", {"author": "Bob"})) == Place("Bob", path="$.author")

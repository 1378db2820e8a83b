"""A row of a list is somebody else's text: whatever it holds, it is written down within bounds, and the look
that found it lives."""

import hashlib
from datetime import date
from decimal import Decimal

import orjson
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.record import pack
from thresher.core.task import MAX_KEY
from thresher.hiring.records import BoardRecord, entry
from thresher.hiring.row import address, evidence_of, fields, key_of, listed, owned_by
from thresher.reading.postings.posting import Posting, Salary

BOARD = BoardRecord("greenhouse:acme", company="acme.example", company_name="Acme Anvils")
NOBODYS = BoardRecord("site:any")


def test_a_row_is_known_by_its_number_else_by_its_address_else_by_its_words():
    assert (
        key_of("greenhouse:acme", Posting("Smith", key="7", url="https://acme.example/7"))
        == "greenhouse:acme/7"
    )
    assert key_of("greenhouse:acme", Posting("Smith", url="https://acme.example/7")).startswith("url/")
    assert key_of("greenhouse:acme", Posting("Smith")) == "greenhouse:acme/smith"


def test_an_address_that_is_none_is_left_out():
    assert address(Posting("Smith", url="javascript:alert(1)")) is None
    assert "url" not in fields(Posting("Smith", url="mailto:jobs@acme.example"))


def test_a_row_reads_the_same_whatever_its_number_its_address_and_its_day():
    one = Posting(
        "Smith", location="Oslo", key="1", url="https://acme.example/1", posted_date=date(2026, 3, 2)
    )
    other = Posting(
        "Smith ", location="Oslo", key="2", url="https://acme.example/2", posted_date=date(2026, 3, 9)
    )
    assert listed(one) == listed(other)
    assert listed(one) != listed(Posting("Smith", location="Bergen"))
    assert listed(Posting("a", location="b")) != listed(Posting("b", location="a"))


def test_a_salary_is_written_with_its_numbers():
    said = fields(
        Posting(
            "Smith", salary=Salary("€50,000.50 a year", Decimal("50000.5"), Decimal(60_000), "EUR", "year")
        )
    )
    assert said["salary"] == {
        "text": "€50,000.50 a year",
        "low": 50000.5,
        "high": 60000,
        "currency": "EUR",
        "period": "year",
    }


def test_a_row_of_the_boards_own_company_is_the_companys():
    assert owned_by(Posting("Smith"), BOARD) == ("Acme Anvils", "acme.example")
    assert owned_by(Posting("Smith", company="ACME Anvils, Inc."), BOARD) == (
        "ACME Anvils, Inc.",
        "acme.example",
    )


def test_a_row_that_names_another_company_keeps_its_name():
    assert owned_by(Posting("Smith", company="Borealis Freight"), BOARD) == (
        "Borealis Freight",
        "borealisfreight",
    )
    assert owned_by(Posting("Smith", company="Borealis Freight"), NOBODYS) == (
        "Borealis Freight",
        "borealisfreight",
    )
    assert owned_by(Posting("Smith"), NOBODYS) == ("", None)


TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
ROWS = st.builds(
    Posting,
    TEXT,
    company=st.none() | TEXT,
    location=st.none() | TEXT,
    url=st.none() | TEXT,
    employment_type=st.none() | TEXT,
    description=st.none() | st.builds(lambda text, times: text * times, TEXT, st.integers(1, 2_000)),
    key=st.none() | TEXT,
    salary=st.none() | st.builds(Salary, TEXT, st.none() | st.decimals(), st.none() | st.decimals()),
    where=TEXT,
)


@given(ROWS, st.text(min_size=1, max_size=500))
def test_any_row_becomes_a_record_that_both_databases_take(row, board):
    said = fields(row)
    name, company = owned_by(row, BOARD)
    data = {**said, "company_name": name, "company": company, "listed": listed(row), "board": "b"}
    filing = pack(entry("posting", key_of(board, row), data, evidence=evidence_of(row, said, "hash")), 65_536)
    orjson.loads(filing.data)
    assert len(filing.key) <= MAX_KEY
    assert "\x00" not in filing.key


SPACED = st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003é\ud800"), max_size=80)


@given(SPACED, st.none() | SPACED, st.none() | SPACED)
def test_a_row_is_compared_by_its_words_however_they_are_spaced(title, company, description):
    row = Posting(title, company=company, description=description)
    words = [" ".join((each or "").split()) for each in (title, company, "", "", "", description)]
    plain = hashlib.blake2b("\x1f".join(words).encode("utf-8", "replace"), digest_size=12)
    assert listed(row) == plain.hexdigest()


@given(ROWS)
def test_every_value_has_a_place_or_says_that_it_has_none(row):
    said = fields(row)
    found = evidence_of(row, said, None)
    assert set(found.places) == set(said)
    for name, place in found.places.items():
        assert place is None or str(said[name]["text"] if name == "salary" else said[name]).startswith(
            place.quote
        )

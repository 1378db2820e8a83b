"""CSV as a source: rows as people and programs write them, and files that are none."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.collecting import OpenWorld, add_item, add_source, collect, prices_of, spec, standing
from tests.harness.tasks import rows
from thresher.apps.prices.adapters import csv
from thresher.apps.prices.adapters.csv import RowDefaults, read_file
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.model import Adapter, PriceType, SourceSpec
from thresher.core.errors import ConfigError
from thresher.core.page import Verdict

TODAY = RowDefaults(date(2026, 3, 1))


def test_a_row_says_everything_that_a_listing_has() -> None:
    text = (
        "Title;Price;Currency;Type;URL;ID;Date;Condition;Quantity;Shipping;Mint mark;Year\n"
        '"1921 Morgan; silver";"1.234,50";EUR;sold;https://a.example/1?x=1;A-1;2026-02-03;used;2;4,90;D;1921\n'
    )
    found = read_file(text.encode(), 0, TODAY)
    assert (found.verdict, found.next, found.notes) == (Verdict.FOUND, None, ())
    (listing,) = found.listings
    assert (listing.title, listing.amount, listing.currency, listing.price_type) == (
        "1921 Morgan; silver",
        123_450,
        "EUR",
        PriceType.SOLD,
    )
    assert (listing.url, listing.external_id, listing.listed_on) == (
        "https://a.example/1?x=1",
        "A-1",
        date(2026, 2, 3),
    )
    assert (listing.condition, listing.quantity, listing.shipping) == ("used", 2, 490)
    assert listing.aspects == {"mint_mark": "D", "year": "1921"}
    assert (listing.quote, listing.place) == ("1.234,50", "line 2")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_files_are_read_as_spreadsheets_save_them(delimiter: str, ends: str, encoding: str) -> None:
    lines = ["name|price|currency", "Fünfer|12.50|EUR", "", "Zehner|20|EUR"]
    text = ends.join(line.replace("|", delimiter) for line in lines)
    found = read_file(text.encode(encoding), 0, TODAY)
    assert [(each.title, each.amount) for each in found.listings] == [("Fünfer", 1_250), ("Zehner", 2_000)]


def test_what_rows_do_not_say_the_source_says() -> None:
    defaults = RowDefaults(date(2026, 3, 1), PriceType.SOLD, "CAD", day_first=True)
    (listing,) = read_file(b"title,price,date\nCent,$1.50,03/02/2026\n", 0, defaults).listings
    assert (listing.price_type, listing.currency, listing.listed_on) == (
        PriceType.SOLD,
        "CAD",
        date(2026, 2, 3),
    )


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (",5,USD", "line 2: title: is missing"),
        ("Cent,,USD", "line 2: price: is missing"),
        ("Cent,cheap,USD", "line 2: price: 'cheap' is no price"),
        ("Cent,sold out,USD", "line 2: price: 'sold out' is no price: it is not for sale now"),
        ("Cent,5,", "line 2: currency: is missing"),
        ("Cent,$5,", "line 2: currency: is missing: '$5' may be USD or another one"),
        ("Cent,5,XQZ", "line 2: currency: 'XQZ' is no currency"),
        ("Cent,€5,USD", "line 2: price: '€5' is in EUR, and the currency says USD"),
        ("Cent,5,USD,traded", "line 2: type: 'traded' is none of sold, ask, bid"),
        ("Cent,5,USD,,javascript:alert(1)", "line 2: url: 'javascript:alert(1)' is no address of the web"),
        ("Cent,5,USD,,,03/04/2025", "line 2: date: '03/04/2025' is no certain day"),
        ("Cent,5,USD,,,2027-01-01", "line 2: date: '2027-01-01' has not come yet"),
        ("Cent,5,USD,,,,0", "line 2: quantity: '0' is no number from 1"),
        ("Cent,5,USD,,,,-2", "line 2: quantity: '-2' is no number from 1"),
        ("Cent,5,USD,,,,,much", "line 2: shipping: 'much' is no amount in USD"),
        ("x" * 501 + ",5,USD", "line 2: title: has 501 characters; the limit is 500"),
        ('"Cent,5,USD', "line 2: a quote is not closed"),
        ("Cent,5,USD,,,,,,9,9", "line 2: it has 10 cells and the header 8"),
    ],
)
def test_a_bad_row_is_named_by_line_and_column_and_the_others_count(row: str, says: str) -> None:
    text = f"title,price,currency,type,url,date,quantity,shipping\n{row}\nPenny,7,USD,,,,,\n"
    found = read_file(text.encode(), 0, TODAY)
    assert [each.title for each in found.listings] == ["Penny"]
    assert found.verdict is Verdict.FOUND
    assert found.notes[0].startswith(says), found.notes
    assert found.reason == "1 rows, 1 could not be read"


def test_many_bad_rows_are_counted_and_the_first_are_shown() -> None:
    text = "title,price,currency\n" + "Cent,cheap,USD\n" * 100 + "Penny,7,USD\n"
    found = read_file(text.encode(), 0, TODAY)
    assert (len(found.listings), len(found.notes)) == (1, csv.MAX_NOTES + 1)
    assert found.notes[-1] == "80 more rows could not be read"


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("body", "verdict", "says"),
    [
        (b"", Verdict.UNKNOWN, "empty"),
        (b"\n\n  \n", Verdict.UNKNOWN, "empty"),
        (
            b"<html><body>Please log in</body></html>",
            Verdict.UNKNOWN,
            "line 1: there is no column title and no column price",
        ),
        (b"title,when\nCent,now\n", Verdict.UNKNOWN, "line 1: there is no column price"),
        (b"PK\x03\x04" + bytes(range(256)) * 20, Verdict.UNKNOWN, "no column"),
        (
            b"title,price,currency\nCent,cheap,USD\n",
            Verdict.UNKNOWN,
            "none of 1 rows can be read; line 2: price",
        ),
        (b"title,price\n", Verdict.CONFIRMED_EMPTY, "a header and no rows"),
    ],
)
def test_a_file_without_listings_says_what_it_proves(body: bytes, verdict: Verdict, says: str) -> None:
    found = read_file(body, 0, TODAY)
    assert (found.listings, found.verdict) == ((), verdict)
    assert says in found.reason


@pytest.mark.promise(18)
@given(st.binary(max_size=2_000))
def test_no_file_crashes_the_reader(body: bytes) -> None:
    assert read_file(b"title,price,currency\n" + body, 0, TODAY).verdict in Verdict
    assert read_file(body, 5, TODAY).verdict in Verdict


def test_a_long_file_is_read_in_portions_and_each_row_once() -> None:
    number = 2 * csv.PORTION + 7
    body = ("id,title,price,currency\n" + "".join(f"{at},Cent {at},1,USD\n" for at in range(number))).encode()
    seen: list[str | None] = []
    cursor: str | None = ":0"
    pages = 0
    while cursor is not None:
        found = read_file(body, int(cursor.partition(":")[2]), TODAY)
        seen += [each.external_id for each in found.listings]
        cursor, pages = found.next, pages + 1
    assert seen == [str(at) for at in range(number)]
    assert pages == 3


def test_a_file_of_exactly_one_portion_has_one_page() -> None:
    body = ("title,price,currency\n" + "Cent,1,USD\n" * csv.PORTION).encode()
    assert read_file(body, 0, TODAY).next is None


def test_a_file_with_too_many_rows_is_said_to_be_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "MAX_ROWS", csv.PORTION)
    body = ("title,price,currency\n" + "Cent,1,USD\n" * (csv.PORTION + 1)).encode()
    found = read_file(body, 0, TODAY)
    assert (found.next, found.capped, len(found.listings)) == (None, True, csv.PORTION)
    assert found.notes == (f"the file has over {csv.PORTION:,} rows; split it",)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "give one of url and file"),
        ({"url": "https://a.example/x.csv", "file": "x.csv"}, "give one of url and file"),
        ({"url": "https://a.example/x.csv", "colour": "red"}, "there is no option 'colour'"),
        ({"url": "https://a.example/x.csv", "type": "traded"}, "type must be one of sold, ask, bid"),
        ({"url": "https://a.example/x.csv", "currency": "XQZ"}, "currency must be an ISO code"),
        ({"url": "https://a.example/x.csv", "day_first": "yes"}, "day_first must be true or false"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        csv.checked_options(SourceSpec("lists", Adapter.CSV, options=options))


# In a world


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_file_that_changes_between_two_portions_is_read_again_from_its_beginning(
    world: OpenWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "PORTION", 2)
    head = "id,title,price,currency\n"
    path = tmp_path / "coins.csv"
    path.write_text(head + "".join(f"{at},1921 Morgan dollar,{at},USD\n" for at in range(1, 6)))
    with world({}) as made:
        source = add_source(made.store, of_file(tmp_path, rate_per_minute=1))
        item = add_item(made.store)
        made.enqueue(collect_task(item, source))
        made.run_until_idle(within=1)
        assert prices_of(made.store, item) == {"1": 100, "2": 200}
        path.write_text(head + "9,1921 Morgan dollar,9,USD\n")
        made.run_until_idle(within=300)
        assert [each["state"] for each in made.tasks("collect_prices")] == ["succeeded"]
        found = standing(made.store, item, source)
        assert (found.pages, found.complete) == (1, True)
        assert prices_of(made.store, item) == {"9": 900}


@pytest.mark.promise(17)
@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "link.csv", "missing.csv", "folder"])
def test_a_file_outside_of_the_project_is_never_read(world: OpenWorld, tmp_path: Path, name: str) -> None:
    home = tmp_path / "project"
    (home / "folder").mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("id,title,price,currency\n1,1921 Morgan dollar,1,USD\n")
    (home / "link.csv").symlink_to(tmp_path / "secret.csv")
    with world({}, **{"retry.max_retries": 0}) as made:
        source = add_source(made.store, of_file(home, name))
        item = add_item(made.store)
        task = collect(made, item, source, within=100_000)
        assert task["state"] == "failed"
        assert ("not inside" in task["reason"]) or ("cannot be read" in task["reason"])
        assert str(tmp_path) not in task["reason"].replace(name, "")
        assert rows(made.store, "select count(*) from price_points") == [(0,)]


def of_file(folder: Path, name: str = "coins.csv", **others: Any) -> SourceSpec:
    return spec("files", options={"file": name, "folder": str(folder)}, **others)

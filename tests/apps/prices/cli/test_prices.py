"""`thresher prices` as a new user meets it: from nothing to a value, and why."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.apps.prices.cli.conftest import DAY
from tests.cli.conftest import Thresher, start

MORGAN = "1921-D Morgan"


def ok(thresher: Thresher, *words: str | int) -> str:
    told = thresher(*words)
    assert told.code == 0, told.err
    assert "\x1b" not in told.out
    return told.out


def refused(thresher: Thresher, *words: str | int) -> str:
    told = thresher(*words)
    assert told.code in (2, 4), told
    assert told.out == ""
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.promise(20)
def test_a_new_user_comes_from_nothing_to_a_value_and_why(prices: Thresher) -> None:
    assert "there is no database" in prices("prices", "list").err
    said = ok(prices, "prices", "add", MORGAN, "--kind", "coin", "--set", "year=1921")
    assert said.strip() == (
        "Item 1, 1921-D Morgan, is added. It lacks denomination: thresher prices change 1 --set denomination=..."
    )
    ok(prices, "prices", "change", 1, "--set", "denomination=dollar", "--set", "mintmark=D")
    assert "there is no source to look at: thresher prices sources add" in ok(
        prices, "prices", "show", MORGAN
    )
    said = ok(prices, "prices", "sources", "add", "club", "--adapter", "csv", "--option", "file=coins.csv")
    assert said.strip() == "Source club is added. 1 item will be looked for there."
    ok(prices, "run")
    shown = ok(prices, "prices", "show", MORGAN)
    for each in (
        "priced",
        "45.00 USD",
        "3 prices from 1 source: 2 sold, 1 asked",
        "found",
        "thresher prices explain 1",
    ):
        assert each in shown
    explained = ok(prices, "prices", "explain", MORGAN)
    for each in (
        "1921-D Morgan: 45.00 USD",
        "Prices that count (3)",
        f"200.00 USD (40.00 USD each of 5) ask at club, {DAY}, match 1.00",
        "Prices that do not count (2)",
        "grade MS63, and the value is of no grade stated",
        "no exchange rate from EUR",
        "read from: $45.00",
        "https://club.example/1",
    ):
        assert each in explained
    listed = ok(prices, "prices", "list")
    for each in ("1921-D Morgan", "priced", "45.00 USD", "40.00 to 45.00"):
        assert each in listed
    assert "Counts: 45.00 USD sold at club" in ok(prices, "explain", MORGAN)


def test_what_is_declared_is_looked_for_by_a_real_process(prices: Thresher, folder: Path) -> None:
    declared = """prices:
  rates: rates.csv
  sources: {club: {adapter: csv, options: {file: coins.csv}}}
  items:
    Morgan: {kind: coin, attributes: {denomination: dollar, year: 1921, mintmark: D}, alerts: {below: 60}}
"""
    with (folder / "thresher.yaml").open("a") as file:
        file.write(declared)
    process = start("run", cwd=folder)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    found = prices("prices", "show", "Morgan", "--json").json
    assert found["item"]["status"] == "priced"
    assert found["item"]["value"]["comp_count"] == 4, "with a rate the price in euros counts"
    assert found["item"]["value"]["currency"] == "USD"
    assert "told" in ok(prices, "prices", "alerts", "list")


def test_everything_has_json_with_amounts_and_their_currency(priced: Thresher) -> None:
    found = priced("prices", "list", "--json").json
    assert found[0]["value"]["median"] == {"minor": 4_500, "currency": "USD", "amount": "45.00"}
    for words in (
        ("show", 1),
        ("explain", 1),
        ("points", 1),
        ("history", 1),
        ("kinds",),
        ("collect", "--dry-run"),
        ("sources", "list"),
        ("sources", "show", "club"),
        ("alerts", "list"),
        ("rates", "list"),
        ("recent",),
        ("stuck",),
        ("workers",),
        ("duplicates",),
    ):
        told = priced("prices", *words, "--json")
        assert told.code == 0, (words, told.err)
        assert isinstance(told.json, dict | list)


def test_nothing_is_wider_than_a_terminal(priced: Thresher, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (
        ("--help",),
        ("add", "--help"),
        ("sources", "--help"),
        ("import", "--help"),
        ("enter", "--help"),
    ):
        monkeypatch.setenv("COLUMNS", "80")
        for line in ok(priced, "prices", *words).splitlines():
            assert len(line) <= 80, line


# Items


def test_a_file_of_items_is_imported_whole_or_not_at_all(prices: Thresher, folder: Path) -> None:
    (folder / "items.csv").write_text(
        "name,kind,denomination,year,colour\nA,coin,dollar,1921,red\nB,coin,dollar,soon,red\n"
    )
    assert "there is no column 'colour'" in refused(prices, "prices", "import", "items.csv")
    told = refused(prices, "prices", "import", "items.csv", "--ignore-unknown-columns")
    assert "items.csv:3: year: Year on the coin. Got 'soon'. Nothing was added" in told
    assert "there is no database" in prices("prices", "list").err, "nothing was made for it either"
    done = prices("prices", "import", "items.csv", "--ignore-unknown-columns", "--skip-bad")
    assert done.out.strip() == (
        "1 item added, 0 changed, 0 as they were; 1 line left out; columns left out: colour. 0 collections asked for."
    )
    assert "items.csv:3: year" in done.err
    assert [each["name"] for each in prices("prices", "list", "--json").json] == ["A"]
    assert "cannot read nothing.csv: No such file" in refused(prices, "prices", "import", "nothing.csv")


def test_an_export_of_items_can_be_imported_again(priced: Thresher, folder: Path) -> None:
    ok(priced, "export", "prices", "-o", "out.csv")
    rows = list(csv.DictReader(io.StringIO((folder / "out.csv").read_text("utf-8-sig"))))
    assert (rows[0]["name"], rows[0]["median"], rows[0]["currency"]) == (MORGAN, "45.00", "USD")
    ok(priced, "prices", "import", "out.csv", "--ignore-unknown-columns")
    found = priced("prices", "list", "--json").json
    assert [each["name"] for each in found] == [MORGAN]


@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx", "parquet"])
@pytest.mark.parametrize("kind", ["prices", "price-points", "price-observations", "valuations"])
def test_every_kind_is_exported_in_every_form(priced: Thresher, folder: Path, kind: str, form: str) -> None:
    ok(priced, "export", kind, "-o", f"out.{form}")
    assert (folder / f"out.{form}").stat().st_size > 100


def test_the_app_exports_under_its_own_name_what_the_machine_exports(priced: Thresher) -> None:
    assert ok(priced, "prices", "export") == ok(priced, "export", "prices")
    points = ok(priced, "prices", "export", "price-points", "-f", "jsonl", "--status", "sold")
    assert points == ok(priced, "export", "price-points", "-f", "jsonl", "--status", "sold")
    refused = priced("prices", "export", "matches")
    assert refused.code == 2
    assert "the prices app exports prices, price-points" in refused.err


def test_price_points_are_exported_with_their_evidence(priced: Thresher, folder: Path) -> None:
    ok(priced, "export", "price-points", "-o", "points.csv", "--status", "sold")
    rows = list(csv.DictReader(io.StringIO((folder / "points.csv").read_text("utf-8-sig"))))
    assert {row["external_id"] for row in rows} == {"1", "2", "3"}
    first = next(row for row in rows if row["external_id"] == "1")
    assert (first["item"], first["price"], first["currency"], first["quote"]) == (
        MORGAN,
        "45.00",
        "USD",
        "$45.00",
    )
    assert "year matches" in first["matched"]
    assert len(first["body"]) == 64
    ok(priced, "export", "price-points", "-o", "points.jsonl")
    lines = [json.loads(line) for line in (folder / "points.jsonl").read_text().splitlines()]
    assert {each["point"]["external_id"] for each in lines} == {"1", "2", "3", "5", "6"}
    assert all(each["signals"] for each in lines)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("add", ""), "the name of an item must be one line"),
        (("add", "a\x1b[31mb"), "printable characters"),
        (("add", "A", "--kind", "stamp"), "kind: 'stamp' is no kind of item; the kinds are"),
        (("add", "A", "--set", "year"), "write --set NAME=VALUE"),
        (("add", "A", "--set", "colour=red"), "attributes.colour: a product has no such attribute"),
        (("add", "A", "--currency", "euros"), "currency: 'euros' is no currency"),
        (("add", "A", "--url", "ftp://a.example/"), "urls[0]:"),
        (("add", "A", "--every", "1s"), "refresh: must be from 1m to 365d"),
        (("show", "nothing"), "there is no item 'nothing'; thresher prices list --archived"),
        (("change", "nothing", "--set", "a=b"), "there is no item"),
        (("change", "1"), "name what to change"),
        (("watch", "1"), "say what to watch for"),
        (("watch", "1", "--below", "1,5"), "below: '1,5' is no amount of USD"),
        (("watch", "1", "--change", "much"), "change: 'much' is no change"),
        (("list", "--status", "sold"), "'sold' is no status; write one of pending"),
        (("points", "1", "--type", "paid"), "write one of sold, ask, bid"),
        (("points", "1", "--source", "bay"), "there is no price source 'bay'"),
        (("collect", "nothing"), "there is no item 'nothing'"),
        (("collect", "--source", "bay"), "there is no price source 'bay'"),
        (("sources", "show", "bay"), "there is no price source 'bay'"),
        (("sources", "add", "Bay", "--adapter", "csv"), "is no name of a source"),
        (("sources", "add", "bay", "--adapter", "csv"), "one of url and file"),
        (
            ("sources", "add", "bay", "--adapter", "csv", "--option", "folder=/etc"),
            "written by Thresher itself",
        ),
        (("sources", "change", "club"), "name what to change"),
        (("sources", "change", "club", "--tier", "11"), "tier: 11 is wrong"),
        (("sources", "change", "club", "--cache", "long"), "--cache 'long' is wrong"),
        (("sources", "rules", "add", "club", "allowed_path", "itm"), "begins with a slash"),
        (("sources", "rules", "remove", "club", "1"), "it has none"),
        (("alerts", "remove", "9"), "there is no alert 9"),
        (("rates", "import", "coins.csv"), "coins.csv"),
        (("rates", "import", "rates.csv", "--base", "euros"), "is no currency"),
        (("enter", "1", "soon"), "row 1, price: 'soon' is no price"),
        (("enter", "nothing", "5"), "there is no item 'nothing'"),
        (("stuck", "--timeout", "long"), "a duration must be written as"),
    ],
)
def test_a_mistake_says_what_is_wrong_and_changes_nothing(
    priced: Thresher, words: tuple[str, ...], says: str
) -> None:
    assert says in refused(priced, "prices", *words)
    found = priced("prices", "list", "--json").json
    assert [(each["name"], each["status"]) for each in found] == [(MORGAN, "priced")]


def test_an_item_is_watched_archived_and_brought_back(priced: Thresher) -> None:
    said = ok(priced, "prices", "watch", 1, "--every", "12h", "--below", "40", "--change", "10%")
    assert said.strip() == (
        "1921-D Morgan is looked for every 12h. You are told when 1921-D Morgan falls below 40.00 USD (alert 1). "
        "You are told when 1921-D Morgan changes by 10% (alert 2)."
    )
    assert "1921-D Morgan falls below 40.00 USD" in ok(priced, "prices", "alerts", "list", 1)
    assert ok(priced, "prices", "alerts", "remove", 1, 2).strip() == "2 alerts removed."
    assert "No alerts" in ok(priced, "prices", "alerts", "list")
    assert "archived" in ok(priced, "prices", "archive", 1)
    assert "No items yet" in ok(priced, "prices", "list")
    assert MORGAN in ok(priced, "prices", "list", "--archived")
    assert "1 source will be asked" in ok(priced, "prices", "unarchive", 1)


def test_a_price_that_is_known_is_entered_and_counts(priced: Thresher, folder: Path) -> None:
    tried = ok(priced, "prices", "enter", 1, "46.00", "--date", DAY, "--dry-run")
    assert "1 price of 1921-D Morgan would be entered at manual: 1 count." in tried
    assert "1 price of 1921-D Morgan entered at manual" in ok(priced, "prices", "enter", 1, "46.00")
    (folder / "mine.csv").write_text(
        "title,price,type\n1921-D Morgan dollar,$44.00,sold\n1921-D Morgan dollar,soon,sold\n"
    )
    said = ok(priced, "prices", "import-points", 1, "mine.csv")
    assert "left out: line 3" in said
    assert "1 row could not be read" in said
    ok(priced, "run")
    assert "4 prices from 2 sources: 4 sold, 0 asked" in ok(priced, "prices", "show", 1)


def test_a_look_by_hand_shows_what_would_be_read_and_keeps_nothing(priced: Thresher) -> None:
    before = ok(priced, "prices", "points", 1)
    said = ok(priced, "prices", "sources", "test", "club", 1)
    assert "5 are about 1921-D Morgan" in said
    assert "it says '1922'; the item's year is 1921" in said
    assert ok(priced, "prices", "points", 1) == before
    ok(priced, "prices", "sources", "add", "ebay", "--adapter", "marketplace")
    told = priced("prices", "sources", "test", "ebay")
    assert (told.code, "EBAY_CLIENT_ID" in told.out) == (1, True)


def test_sources_have_rules_limits_and_a_cache(priced: Thresher) -> None:
    said = ok(priced, "prices", "sources", "rules", "add", "club", "exclude_keywords", "replica", "copy")
    assert said.strip() == "Source club has rule 1: listings with one of these words do not count."
    ok(priced, "prices", "sources", "change", "club", "--tier", 2, "--rate-per-minute", 30)
    ok(priced, "prices", "sources", "cache", "club", 0)
    shown = ok(priced, "prices", "sources", "show", "club")
    for each in ("exclude_keywords", "replica, copy", "30 a minute", "never", "prices.club"):
        assert each in shown
    assert "is removed" in ok(priced, "prices", "sources", "rules", "remove", "club", 1)
    ok(priced, "sources", "pause", "prices.club", "--for", "1h", "--reason", "too busy")
    assert re.search(r"opens in (1h|\d+m[^;]*); too busy", ok(priced, "prices", "sources", "list"))
    assert "club: source club is paused until" in ok(priced, "prices", "show", 1)
    assert "retired; what it has brought is kept" in ok(priced, "prices", "sources", "retire", "club")


def test_operators_see_recent_stuck_workers_and_no_duplicates(priced: Thresher) -> None:
    recent = ok(priced, "prices", "recent")
    assert "succeeded" in recent
    assert MORGAN in recent
    assert "No collection is stuck." in ok(priced, "prices", "stuck", "--timeout", "5m")
    assert "succeeded" in ok(priced, "prices", "workers")
    assert ok(priced, "prices", "duplicates").strip() == "0 duplicate price points."


def test_the_words_of_add_know_a_price_item(prices: Thresher) -> None:
    assert "Item 1, Lamp, is added" in ok(prices, "add", "price-item", "Lamp", "--set", "model=L5")

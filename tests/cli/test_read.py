"""`thresher read`: what is made of a string, one line each."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Thresher, start
from thresher.core.errors import TooSlow


@pytest.fixture(autouse=True)
def elsewhere(folder: object) -> None:
    """Reading strings needs no project and makes none."""


@pytest.mark.promise(18)
def test_a_saved_page_that_holds_its_reader_is_stopped_and_the_others_are_answered(
    thresher: Thresher, folder: Path
):
    (folder / "thresher.yaml").write_text("settings: {isolation.seconds: 0.3}")
    (folder / "slow.html").write_text(
        "".join(f"<a href=/careers/{each}>Careers in place {each}</a>" for each in range(30_000))
    )
    result = thresher("read", "board", "slow.html", "https://boards.greenhouse.io/acme", "--json")
    slow, other = lines(result.out)
    assert (result.code, slow["text"], other["token"]) == (TooSlow.exit_code, "slow.html", "acme")
    assert "took longer than 0.3 seconds and was stopped" in slow["error"]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def feed(monkeypatch: pytest.MonkeyPatch, *given: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(given).encode()), "utf-8"))


def test_a_price_is_given_in_its_smallest_unit(thresher: Thresher):
    result = thresher("read", "price", "1.234,56 €", "--json")
    assert (result.code, result.json["amount_minor"], result.json["currency"], result.json["quote"]) == (
        0,
        123456,
        "EUR",
        "1.234,56 €",
    )


@pytest.mark.promise(14)
def test_what_is_no_price_is_null_with_a_reason(thresher: Thresher):
    found = thresher("read", "price", "free shipping over $50", "--json").json
    assert (found["text"], found["amount_minor"], found["currency"]) == ("free shipping over $50", None, None)
    assert "shipping" in found["reason"]


def test_several_arguments_give_one_object_a_line(thresher: Thresher):
    found = lines(thresher("read", "price", "$5", "call us", "--json").out)
    assert [each["amount_minor"] for each in found] == [500, None]


def test_lines_may_be_texts_or_objects_with_more(thresher: Thresher, monkeypatch: pytest.MonkeyPatch):
    feed(
        monkeypatch,
        "5 €",
        '{"text": "12,50", "currency": "PLN"}',
        '{"text": "$5", "hint": "CAD"}',
        "",
        "{not json} 7 USD",
    )
    found = lines(thresher("read", "price", "--json").out)
    expected = [(500, "EUR"), (1250, "PLN"), (500, "CAD"), (None, None), (700, "USD")]
    assert [(each["amount_minor"], each["currency"]) for each in found] == expected


def test_an_object_that_lacks_its_text_is_named_and_the_others_are_answered(
    thresher: Thresher, monkeypatch: pytest.MonkeyPatch
):
    feed(monkeypatch, '{"x": 1}', '{"text": 5}', "5 €")
    result = thresher("read", "price", "--json")
    assert result.code == 2
    first, second, third = lines(result.out)
    assert (
        "must have 'text' as text" in first["error"],
        "must have 'text' as text" in second["error"],
        third["amount_minor"],
    ) == (True, True, 500)


def test_a_dash_is_standard_input_and_bytes_that_are_no_text_do_no_harm(
    thresher: Thresher, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe 5 EUR\r\n"), "utf-8"))
    result = thresher("read", "price", "-", "--json")
    assert (result.code, result.json["amount_minor"]) == (0, 500)


@pytest.mark.promise(18)
def test_a_line_without_end_is_cut_and_the_next_is_answered(
    thresher: Thresher, monkeypatch: pytest.MonkeyPatch
):
    feed(monkeypatch, "x" * 7_000_000, "5 €", "y" * 2_000_001)
    result = thresher("read", "price", "--json")
    first, second, third = lines(result.out)
    assert (result.code, second["amount_minor"]) == (2, 500)
    assert ["2,000,000 bytes" in each["error"] for each in (first, third)] == [True, True]


def test_without_json_a_person_reads_a_sentence(thresher: Thresher):
    assert (
        thresher("read", "price", "from $5 per kg").out
        == "from $5 per kg: from 5 USD per kg (the currency is not certain)\n"
    )
    assert "no price (a percentage)" in thresher("read", "price", "20% off").out


def test_an_address_is_taken_apart(thresher: Thresher):
    found = thresher(
        "read", "url", "../b?utm_source=x#f", "--base", "https://Jobs.Example.co.uk/a/c", "--json"
    ).json
    assert (found["href"], found["canonical"]) == (
        "https://jobs.example.co.uk/b?utm_source=x#f",
        "https://jobs.example.co.uk/b",
    )
    assert (found["host"], found["domain"], len(found["key"])) == ("jobs.example.co.uk", "example.co.uk", 32)


def test_what_is_no_address_is_an_error_in_its_line(thresher: Thresher, monkeypatch: pytest.MonkeyPatch):
    feed(
        monkeypatch,
        "nonsense",
        '{"input": "x", "base": "https://a.example/"}',
        '{"url": "https://b.example", "base": null}',
    )
    first, second, third = lines(thresher("read", "url", "--json").out)
    assert (first["href"], "not a URL" in first["error"]) == (None, True)
    assert (second["href"], third["href"]) == ("https://a.example/x", "https://b.example/")


def test_a_board_is_known_by_its_address(thresher: Thresher):
    one, other = lines(
        thresher(
            "read",
            "board",
            "https://boards.greenhouse.io/acme",
            "https://idealever.example/lever.co",
            "--json",
        ).out
    )
    assert (one["platform"], one["token"]) == ("greenhouse", "acme")
    assert (other["platform"], other["token"], "not the URL of a known board" in other["reason"]) == (
        None,
        None,
        True,
    )


def test_a_board_says_where_its_list_is_asked_for(thresher: Thresher):
    one = thresher("read", "board", "https://acme.wd5.myworkdayjobs.com/en-US/Work", "--json").json
    assert one["list"] == "POST https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Work/jobs"


def test_the_board_of_a_saved_page_answer_or_feed_is_read(
    thresher: Thresher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "page.html").write_text(
        '<html><body><iframe src="https://jobs.ashbyhq.com/acme/embed"></iframe></body></html>'
    )
    row = {
        "id": "1",
        "text": "Ladder maker",
        "hostedUrl": "https://jobs.lever.co/acme/1",
        "categories": {"location": "Leeds"},
    }
    (tmp_path / "answer.json").write_text(json.dumps([row]))
    (tmp_path / "own.html").write_text(
        '<html><head><script src="https://x.recruiteecdn.com/a.js"></script></head><body>x</body></html>'
    )
    (tmp_path / "other.txt").write_text("nothing of the kind")
    monkeypatch.chdir(tmp_path)
    found = lines(
        thresher("read", "board", "page.html", "answer.json", "own.html", "other.txt", "--json").out
    )
    assert [each["platform"] for each in found] == ["ashby", "lever", "recruitee", None]
    assert [each["token"] for each in found] == ["acme", "acme", None, None]


def test_a_line_never_opens_a_file(thresher: Thresher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "page.html").write_text('<iframe src="https://jobs.ashbyhq.com/acme/embed"></iframe>')
    monkeypatch.chdir(tmp_path)
    feed(monkeypatch, "page.html")
    assert thresher("read", "board", "--json").json["platform"] is None


def test_a_date_is_counted_from_the_day_that_is_given(thresher: Thresher):
    found = thresher("read", "date", "Posted 30+ Days Ago", "--today", "2026-01-10", "--json").json
    assert (found["date"], found["or_earlier"], found["approximate"]) == ("2025-12-11", True, False)
    assert (
        thresher("read", "date", "vor 2 Wochen", "--today", "2026-01-10").out
        == "vor 2 Wochen: about 2025-12-27\n"
    )


def test_the_language_decides_the_order_of_day_and_month(thresher: Thresher, monkeypatch: pytest.MonkeyPatch):
    assert thresher("read", "date", "3/4/2025", "--json").json["date"] is None
    assert thresher("read", "date", "3/4/2025", "--language", "de", "--json").json["date"] == "2025-04-03"
    assert thresher("read", "date", "3/4/2025", "--month-first", "--json").json["date"] == "2025-03-04"
    feed(monkeypatch, '{"text": "1 day ago", "today": "2025-03-01"}', '{"text": "x", "today": "soon"}')
    result = thresher("read", "date", "--json")
    assert (result.code, lines(result.out)[0]["date"], "2026-01-31" in lines(result.out)[1]["error"]) == (
        2,
        "2025-02-28",
        True,
    )


ROBOTS = "User-agent: *\nDisallow: /private\nAllow: /private/open\nCrawl-delay: 3\nSitemap: https://a.example/map.xml\n"


def test_a_robots_file_is_asked_about_addresses(thresher: Thresher, folder: Any):
    (folder / "robots.txt").write_text(ROBOTS)
    asked = ["--url", "https://a.example/private/x", "--url", "https://a.example/private/open"]
    closed, opened = lines(thresher("read", "robots", "robots.txt", *asked, "--json").out)
    assert (closed["allowed"], closed["rule"], closed["crawl_delay"]) == (False, "Disallow: /private", 3.0)
    assert (opened["allowed"], opened["sitemaps"]) == (True, ["https://a.example/map.xml"])
    assert thresher("read", "robots", "robots.txt").out == "for thresher: crawl delay 3.0, sitemaps 1\n"


def test_robots_vectors_come_as_lines(thresher: Thresher, monkeypatch: pytest.MonkeyPatch):
    case = {"robots": "User-agent: Bot\nDisallow: /", "agent": "Bot", "url": "https://a.example/"}
    feed(monkeypatch, json.dumps(case), json.dumps(case | {"agent": "Other"}), "plain text")
    result = thresher("read", "robots", "--json")
    found = lines(result.out)
    assert (result.code, [each.get("allowed") for each in found], "'robots'" in found[2]["error"]) == (
        2,
        [False, True, None],
        True,
    )


def test_a_missing_file_is_named(thresher: Thresher):
    result = thresher("read", "robots", "missing.txt")
    assert (result.code, "missing.txt cannot be read" in result.err) == (2, True)


def test_hostile_text_does_not_steer_the_terminal(thresher: Thresher):
    assert "\x1b" not in thresher("read", "price", "\x1b[31m$5").out


def test_answers_come_while_lines_still_arrive(folder: Any):
    """A pipe may never end: each line is answered when it comes."""
    process = start("read", "price", "--json", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("5 €\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["amount_minor"] == 500
    process.stdin.close()
    assert process.wait(timeout=30) == 0

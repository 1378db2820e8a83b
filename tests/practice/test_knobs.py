"""Each knob misbehaves as it says, and only where and as often as it says."""

import gzip
import json
import re
import socket
import time
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from tests.practice.browse import get, raw
from thresher.practice.web import WALLS, Knob, PracticeWeb, Trouble, robots
from thresher.practice.web.knob import DELIVERIES, TWISTS, VENDORS, knob_from

HOST = "www.kestrel.example"
URL = f"https://{HOST}/about"
LIST = "https://api.smartrecruiters.com/v1/companies/ember/postings?limit=100"
API = "api.smartrecruiters.com"


def test_a_knob_acts_as_often_as_it_says_and_only_at_its_host(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, HOST, status=503, times=2))
    assert get(web, "https://www.acme.example/about").status == 200
    assert [get(web, URL).status for _ in range(4)] == [503, 503, 200, 200]


def test_a_knob_may_wait_before_it_acts(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, HOST, status=500, times=1, after=2))
    assert [get(web, URL).status for _ in range(4)] == [200, 200, 500, 200]


def test_a_knob_keeps_to_its_path(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, HOST, "/careers", status=500))
    assert (get(web, URL).status, get(web, f"https://{HOST}/careers/1").status) == (200, 500)


def test_a_suffix_covers_all_hosts_below_it(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, "*.kestrel.example", status=500))
    assert [
        get(web, f"https://{host}/about").status for host in (HOST, "kestrel.example", "notkestrel.example")
    ] == [500, 200, 200]


def test_two_answers_with_counts_form_a_queue(web: PracticeWeb):
    web.turn(Knob(Trouble.RATE_LIMITED, HOST, times=1), Knob(Trouble.STATUS, HOST, status=500, times=1))
    assert [get(web, URL).status for _ in range(3)] == [429, 500, 200]


def test_robots_txt_is_touched_only_by_name(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, HOST, status=500, times=1))
    assert get(web, f"https://{HOST}/robots.txt").status == 200
    assert get(web, URL).status == 500


@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("User-agent: *\nDisallow: /careers\nCrawl-delay: 3\n", 200, "text/plain"),
        ("", 404, "text/plain"),
        ("broken", 500, "text/plain"),
        ("<html><body>Welcome</body></html>", 200, "text/html"),
    ],
)
def test_robots_txt_says_what_it_is_told_to(web: PracticeWeb, text: str, status: int, kind: str):
    web.turn(robots(HOST, text, status=status, kind=kind))
    got = get(web, f"https://{HOST}/robots.txt")
    assert (got.text, got.status, got.headers["content-type"]) == (text, status, kind)
    assert get(web, URL).status == 200


def test_a_429_says_how_long_in_seconds_as_a_date_or_not_at_all(web: PracticeWeb):
    web.turn(
        Knob(Trouble.RATE_LIMITED, HOST, times=1),
        Knob(Trouble.RATE_LIMITED, HOST, times=1, seconds=7),
        Knob(Trouble.RATE_LIMITED, HOST, times=1, seconds=60, dated=True),
        Knob(Trouble.RATE_LIMITED, HOST, times=1, seconds=5, status=503),
    )
    bare, seconds, date, unavailable = (get(web, URL) for _ in range(4))
    assert (bare.status, "retry-after" in bare.headers) == (429, False)
    assert (seconds.status, seconds.headers["retry-after"]) == (429, "7")
    assert 55 <= parsedate_to_datetime(date.headers["retry-after"]).timestamp() - time.time() <= 61
    assert (unavailable.status, unavailable.headers["retry-after"]) == (503, "5")


@pytest.mark.parametrize("vendor", WALLS)
def test_every_wall_bears_its_marks_and_none_of_the_site(web: PracticeWeb, vendor: str):
    marks = {
        "cloudflare": "challenge-platform",
        "turnstile": "cf-turnstile",
        "recaptcha": "g-recaptcha",
        "hcaptcha": "h-captcha",
        "datadome": "captcha-delivery.com",
        "perimeterx": "px-captcha",
        "akamai": "edgesuite",
        "plain": "captchacharacters",
    }
    web.turn(
        Knob(Trouble.CAPTCHA, HOST, text=vendor, times=1),
        Knob(Trouble.CAPTCHA, HOST, text=vendor, status=200),
    )
    got = get(web, URL)
    assert (got.status, get(web, URL).status) == (403, 200)
    assert marks[vendor] in got.text
    assert "Kestrel Optics" not in got.text
    assert "etag" not in got.headers


def test_a_consent_wall_stands_until_the_cookie_comes(web: PracticeWeb):
    web.turn(Knob(Trouble.CONSENT, HOST))
    assert "consent-wall" in get(web, URL).text
    assert "Kestrel Optics" in get(web, URL, Cookie="consent=all").text


@pytest.mark.parametrize(
    "target",
    ["http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:1/", "https://elsewhere.example/x"],
)
def test_a_redirect_leads_where_it_is_told_to(web: PracticeWeb, target: str):
    web.turn(Knob(Trouble.REDIRECT, HOST, text=target, status=307))
    got = get(web, URL)
    assert (got.status, got.headers["location"]) == (307, target)


def test_a_redirect_loop_never_ends(web: PracticeWeb):
    web.turn(Knob(Trouble.REDIRECT_LOOP, HOST))
    seen, target = [], "/about"
    for _ in range(6):
        target = get(web, f"https://{HOST}{target}").headers["location"]
        seen.append(target)
    assert seen == ["/about?loop=a", "/about?loop=b"] * 3


def test_an_oversized_body_is_as_large_as_it_says(web: PracticeWeb):
    web.turn(Knob(Trouble.OVERSIZED, HOST, number=3_000_001))
    got = get(web, URL)
    assert len(got.body) == int(got.headers["content-length"]) == 3_000_001


def test_who_stops_reading_an_oversized_body_is_not_sent_the_rest(web: PracticeWeb):
    web.turn(Knob(Trouble.OVERSIZED, HOST, number=200_000_000))
    with socket.create_connection(("127.0.0.1", web.port)) as wire:
        wire.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert wire.recv(4_096).startswith(b"HTTP/1.1 200")
    (entry,) = web.until(lambda log: bool(log) and log[0].ended is not None)
    assert not entry.whole


def test_a_gzip_bomb_is_small_on_the_wire_and_large_unpacked(web: PracticeWeb):
    web.turn(Knob(Trouble.GZIP_BOMB, HOST, number=30_000_000))
    got = get(web, URL)
    assert got.headers["content-encoding"] == "gzip"
    assert len(got.body) < 40_000
    assert len(gzip.decompress(got.body)) == 30_000_000


def test_a_wrong_charset_says_one_thing_and_writes_another(web: PracticeWeb):
    web.turn(Knob(Trouble.CHARSET, HOST))
    got = get(web, URL)
    assert "utf-8" in got.headers["content-type"]
    with pytest.raises(UnicodeDecodeError):
        got.body.decode("utf-8")
    assert "Größe" in got.body.decode("windows-1252")


def test_a_host_can_be_no_site(web: PracticeWeb):
    web.turn(Knob(Trouble.NO_SUCH_SITE, HOST))
    assert "There is no site here" in get(web, URL).text


def test_a_slow_host_answers_late_and_whole(web: PracticeWeb):
    usual = get(web, URL).body
    web.turn(Knob(Trouble.SLOW, HOST, seconds=0.3))
    assert get(web, URL).body == usual
    entry = web.until(lambda log: log[-1].ended is not None)[-1]
    assert entry.ended - entry.arrived >= 0.3


def test_a_hanging_host_says_nothing_until_the_client_leaves(web: PracticeWeb):
    web.turn(Knob(Trouble.HANG, HOST))
    with pytest.raises(TimeoutError):
        get(web, URL, timeout=0.3)
    entry = web.until(lambda log: bool(log) and log[-1].ended is not None)[-1]
    assert (entry.status, entry.whole) == (0, False)


def test_a_dripping_body_comes_in_pieces_and_whole(web: PracticeWeb):
    usual = get(web, URL).body
    web.turn(Knob(Trouble.DRIP, HOST, seconds=0.4, number=8))
    assert get(web, URL).body == usual
    entry = web.until(lambda log: log[-1].ended is not None)[-1]
    assert entry.ended - entry.arrived >= 0.4


def test_a_truncated_body_ends_before_its_length(web: PracticeWeb):
    web.turn(Knob(Trouble.TRUNCATED, HOST))
    head, _, body = raw(web, HOST, "/about").partition(b"\r\n\r\n")
    promised = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
    assert 0 < len(body) < promised


def test_a_chunked_body_ends_without_its_end(web: PracticeWeb):
    web.turn(Knob(Trouble.CUT_CHUNKS, HOST))
    answer = raw(web, HOST, "/about")
    assert b"chunked" in answer.lower()
    assert not answer.endswith(b"0\r\n\r\n")


def test_a_reset_connection_says_nothing(web: PracticeWeb):
    web.turn(Knob(Trouble.RESET, HOST))
    assert raw(web, HOST) == b""


def test_garbage_is_not_http(web: PracticeWeb):
    web.turn(Knob(Trouble.GARBAGE, HOST))
    answer = raw(web, HOST)
    assert answer
    assert not answer.startswith(b"HTTP/")


def test_a_changed_layout_has_the_same_words_in_another_coat(web: PracticeWeb):
    page, api = f"https://{HOST}/careers", "https://boards-api.greenhouse.io/v1/boards/acme/jobs"
    before, rows = get(web, page).text, get(web, api).json
    web.turn(Knob(Trouble.LAYOUT))
    after = get(web, page).text
    assert 'class="opening"' in before
    assert 'class="opening"' not in after
    assert set(re.findall(r"href=\"/careers/\d+", after)) == set(re.findall(r"href=\"/careers/\d+", before))
    assert get(web, api).json == {"data": {f"{name}V2": value for name, value in rows.items()}, "version": 2}


def test_a_changed_layout_keeps_what_is_in_the_head(web: PracticeWeb):
    catalogue = "https://courses.practice.example/catalogue"
    before = re.findall(r"<link [^>]*>", get(web, catalogue).text)
    web.turn(Knob(Trouble.LAYOUT))
    assert before
    assert re.findall(r"<link [^>]*>", get(web, catalogue).text) == before


def test_a_changed_layout_takes_the_json_ld_away(web: PracticeWeb):
    row = get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs").json["jobs"][0]
    web.turn(Knob(Trouble.LAYOUT))
    got = get(web, row["absolute_url"])
    assert "ld+json" not in got.text
    assert row["title"] in got.text


def test_no_results_come_with_recommendations(web: PracticeWeb):
    web.turn(Knob(Trouble.NO_RESULTS))
    text = get(web, f"https://{HOST}/careers").text
    assert "0 results" in text
    assert len(re.findall(r'href="/careers/\d+', text)) == 5
    assert get(web, "https://boards-api.greenhouse.io/v1/boards/acme/jobs").json == {
        "jobs": [],
        "meta": {"total": 0},
    }
    assert "Recommended" in get(web, "https://courses.practice.example/catalogue").text


def rows(web: PracticeWeb, offset: int = 0) -> tuple[int, list[str]]:
    found = get(web, f"{LIST}&offset={offset}").json
    return found["totalFound"], [row["id"] for row in found["content"]]


def test_a_cap_hides_rows_that_the_total_still_counts(web: PracticeWeb):
    total, _ = rows(web)
    web.turn(Knob(Trouble.CAP, API, number=130))
    assert rows(web)[0] == total
    assert [len(rows(web, offset)[1]) for offset in (0, 100, 200)] == [100, 30, 0]


@pytest.mark.parametrize("off", [18, -40])
def test_a_total_can_be_off(web: PracticeWeb, off: int):
    total, ids = rows(web)
    web.turn(Knob(Trouble.TOTAL, API, number=off))
    assert rows(web) == (total + off, ids)


def test_an_empty_answer_can_claim_rows(web: PracticeWeb):
    web.turn(Knob(Trouble.CAP, API, number=0), Knob(Trouble.TOTAL, API, number=18))
    total, ids = rows(web)
    assert total > 18
    assert ids == []


def test_offsets_wrap(web: PracticeWeb):
    total, ids = rows(web)
    web.turn(Knob(Trouble.WRAP, API))
    assert rows(web, total)[1] == ids
    assert rows(web, total + 5)[1][:10] == ids[5:15]


def test_every_third_row_comes_twice(web: PracticeWeb):
    total, ids = rows(web)
    web.turn(Knob(Trouble.DUPLICATES, API, number=3))
    more, doubled = rows(web)
    assert more == total + total // 3
    assert doubled[:8] == [ids[0], ids[1], ids[2], ids[2], ids[3], ids[4], ids[5], ids[5]]


def test_rotating_ids_change_with_every_answer_and_still_lead_somewhere(web: PracticeWeb):
    web.turn(Knob(Trouble.ROTATING_IDS))
    first, second = get(web, LIST).json["content"], get(web, LIST).json["content"]
    assert [row["name"] for row in first] == [row["name"] for row in second]
    assert not {row["id"] for row in first} & {row["id"] for row in second}
    assert get(web, first[0]["ref"]).json["name"] == first[0]["name"]
    offer = get(web, "https://fathom.recruitee.com/api/offers/").json["offers"][0]
    assert offer["title"] in get(web, offer["careers_url"]).text
    lever = get(web, "https://api.lever.co/v0/postings/borealis?mode=json").json[0]
    assert get(web, lever["hostedUrl"]).status == 200


def test_validators_answer_304_and_can_be_switched_off(web: PracticeWeb):
    got = get(web, URL)
    etag, modified = got.headers["etag"], got.headers["last-modified"]
    assert get(web, URL, If_None_Match=etag).status == 304
    assert get(web, URL, If_None_Match='"other", W/' + etag).status == 304
    assert get(web, URL, If_None_Match='"other"').status == 200
    assert get(web, URL, If_Modified_Since=modified).status == 304
    assert get(web, URL, If_Modified_Since="Thu, 01 Jan 2015 00:00:00 GMT").status == 200
    assert get(web, URL, If_Modified_Since="nonsense").status == 200
    web.turn(Knob(Trouble.NO_ETAG, HOST, times=1), Knob(Trouble.NO_VALIDATORS, HOST, after=1))
    assert set(get(web, URL).headers) & {"etag", "last-modified"} == {"last-modified"}
    got = get(web, URL, If_None_Match=etag)
    assert (got.status, set(got.headers) & {"etag", "last-modified"}) == (200, set())


def test_headers_are_added_to_whatever_is_answered(web: PracticeWeb):
    web.turn(Knob(Trouble.HEADERS, HOST, text="Cache-Control: max-age=60\nvary: accept-language"))
    web.turn(Knob(Trouble.STATUS, HOST.upper(), status=503, after=1))
    fine, broken = get(web, URL), get(web, URL)
    assert (fine.headers["cache-control"], fine.headers["vary"]) == ("max-age=60", "accept-language")
    assert (broken.status, broken.headers["cache-control"]) == (503, "max-age=60")


def test_cookies_are_set_when_asked(web: PracticeWeb):
    assert "set-cookie" not in get(web, URL).headers
    web.turn(Knob(Trouble.COOKIES, HOST))
    assert get(web, URL).headers["set-cookie"].startswith("visitor=")


def test_a_delivery_spoils_what_an_answer_knob_serves(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, HOST, status=500), Knob(Trouble.SLOW, HOST, seconds=0.2))
    assert get(web, URL).status == 500
    entry = web.until(lambda log: log[-1].ended is not None)[-1]
    assert entry.ended - entry.arrived >= 0.2


def test_reset_turns_every_knob_back(web: PracticeWeb):
    web.turn(Knob(Trouble.STATUS, status=500))
    web.reset()
    assert web.knobs() == []
    assert get(web, URL).status == 200


@pytest.mark.parametrize(
    "said",
    [
        {"trouble": "sloww"},
        {"trouble": "slow", "secnds": 3},
        {"trouble": "slow", "path": "about"},
        {"trouble": "slow", "times": 0},
        {"trouble": "slow", "seconds": -1},
        {"trouble": "status", "status": 99},
        {"trouble": "oversized", "number": 2**40},
        {},
        [],
        {"trouble": "slow", "times": "many"},
        {"trouble": "captcha", "text": "no such vendor"},
        {"trouble": "charset", "text": "klingon"},
        {"trouble": "redirect"},
        {"trouble": "headers"},
        {"trouble": "headers", "text": "no header"},
        {"trouble": "headers", "text": "a b: c"},
        {"trouble": "redirect", "text": "/x\r\nSet-Cookie: a=b"},
        {"trouble": "drip", "number": -1},
    ],
)
def test_a_knob_that_is_none_is_refused_with_a_reason(said: dict):
    with pytest.raises(ValueError, match=r".{15}"):
        knob_from(said)


def test_every_trouble_is_of_one_sort_and_tested_here():
    here = Path(__file__)
    text = here.read_text("utf-8") + here.with_name("test_model.py").read_text("utf-8")
    assert [each for each in Trouble if f"(Trouble.{each.name}" not in text] == [Trouble.BODY], (
        "which `robots` turns"
    )
    assert not TWISTS & DELIVERIES
    assert tuple(WALLS) == VENDORS


def test_a_knob_goes_through_json_unchanged():
    knob = Knob(Trouble.RATE_LIMITED, HOST, "/x", times=3, seconds=2.5, dated=True)
    assert knob_from(json.loads(json.dumps(knob.as_json()))) == knob


def test_the_how_to_names_every_trouble_and_every_vendor():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "practise-offline.md"
    text = page.read_text("utf-8")
    assert [each for each in Trouble if f"`{each}`" not in text] == []
    assert [each for each in VENDORS if each not in text] == []

"""The page about keys: made, shown once, used, taken back, by a person in a browser."""

import logging
import re

import pytest

from tests.web.conftest import Api
from tests.web.pages.visitor import GOOD, Visitor, page, with_anna
from thresher.admin.keys import create_key
from thresher.web.auth import SECURE_NAME

pytestmark = pytest.mark.promise(17)

TOKEN = re.compile(r"thr_[0-9a-f]{12}_[\w-]{43}")
EVIL = """<script>alert(1)</script>"' onmouseover=alert(1) {{7*7}}"""


def made_of(text: str) -> str:
    (token,) = set(TOKEN.findall(text))
    return str(token)


def test_a_key_is_made_shown_once_used_and_revoked(world):
    anna = with_anna(world).log_in()
    assert "No valid keys" in anna.see("/keys")
    told = anna.post("/keys", name="dice-1", scope="scrape", sources="Dice, indeed", lasts="90d", rate="30")
    shown = page(told, 201)
    token = made_of(shown)
    assert "only time it is shown" in shown
    assert told.headers["Cache-Control"] == "no-store"
    assert "Location" not in told.headers
    assert "Set-Cookie" not in told.headers
    assert f"curl -H &#34;Authorization: Bearer {token}&#34; {world.url}/api/scraper/queue/stats" in shown
    assert Api(world.url, token).ask("GET", "/api/scraper/queue/stats").status == 200
    listed = anna.see("/keys")
    assert token not in listed
    assert token[17:] not in listed
    for said in (
        f"{token[:16]}…",
        "dice, indeed",
        "30 per minute",
        "by <bdi>administrator anna</bdi>",
        "2024-02-12",
        "pill live",
    ):
        assert said in listed
    assert re.search(r'data-label="Requests" class="number"><span>1<small>', listed)
    (key_id,) = (row[0] for row in world.rows("select id from api_keys"))
    asked = anna.see(f"/keys/{key_id}/revoke")
    assert "This cannot be undone" in asked
    assert Api(world.url, token).ask("GET", "/api/scraper/queue/stats").status == 200, (
        "looking at the question revokes nothing"
    )
    gone = anna.post(f"/keys/{key_id}/revoke")
    assert (gone.status, gone.headers["Location"]) == (303, f"/keys?all=1#key-{key_id}")
    Api(world.url, token).ask("GET", "/api/scraper/queue/stats").problem(401)
    assert f"key-{key_id}" not in anna.see("/keys")
    assert '<span class="pill revoked">' in anna.see("/keys?all=1")
    page(anna.post(f"/keys/{key_id}/revoke"), 404)
    anna.see(f"/keys/{key_id}/revoke", 404)


def test_a_key_is_switched_off_and_on_by_a_button(world):
    anna = with_anna(world).log_in()
    token = made_of(page(anna.post("/keys", name="dice-1", scope="scrape"), 201))
    ((key_id,),) = world.rows("select id from api_keys")
    assert f'action="/keys/{key_id}/disable"' in anna.see("/keys")
    off = anna.post(f"/keys/{key_id}/disable")
    assert (off.status, off.headers["Location"]) == (303, f"/keys#key-{key_id}")
    Api(world.url, token).ask("GET", "/api/scraper/queue/stats").problem(401)
    listed = anna.see("/keys")
    assert '<span class="pill disabled">' in listed
    assert f'action="/keys/{key_id}/enable"' in listed
    anna.post(f"/keys/{key_id}/enable")
    assert Api(world.url, token).ask("GET", "/api/scraper/queue/stats").status == 200
    assert [detail for (detail,) in world.rows("select detail from events where kind = 'key_disabled'")] == [
        f'{{"key":"dice-1","key_id":{key_id},"by":"administrator anna"}}'
    ]
    page(anna.post("/keys/999/disable"), 404)


def test_what_a_reload_sends_again_makes_no_second_key_and_shows_nothing(world):
    anna = with_anna(world).log_in()
    token = made_of(page(anna.post("/keys", name="once", scope="read"), 201))
    again = page(anna.post("/keys", name="once", scope="read"), 409)
    assert "is in use" in again
    assert token not in again
    assert TOKEN.search(again) is None
    assert world.rows("select count(*) from api_keys") == [(1,)]


def test_an_expired_key_is_no_longer_among_those_that_open_something(world):
    anna = with_anna(world).log_in()
    anna.post("/keys", name="short", scope="read", lasts="1h")
    world.pass_time(3_601)
    assert "short" not in anna.see("/keys")
    assert '<span class="pill expired">' in anna.see("/keys?all=1")


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ("scrape", "/api/scraper/queue/stats"),
        ("read", "/api/status"),
        ("admin", "/api/keys"),
        (("read", "admin"), "/api/keys"),
        ("write", "/api/webhooks"),
    ],
    ids=str,
)
def test_the_line_to_try_a_key_with_works(anna, scope, path):
    name = f"try {scope}"
    shown = page(anna.post("/keys", name=name, scope=scope), 201)
    line = re.search(r"curl -H &#34;Authorization: Bearer (\S+)&#34; (\S+)</code>", shown)
    assert line
    assert line[2] == f"{anna.url}{path}"
    assert Api(anna.url, line[1]).ask("GET", path).status == 200


SENSELESS = (
    ({"name": "", "scope": "read"}, 400, "name"),
    ({"name": "a"}, 400, "scope"),
    ({"name": "a", "scope": "root"}, 400, "scope"),
    ({"name": "a", "scope": "read", "lasts": "soon"}, 400, "90s"),
    ({"name": "a", "scope": "read", "rate": "0"}, 400, "1,000,000"),
    ({"name": "a", "scope": "read", "rate": "\N{ARABIC-INDIC DIGIT THREE}"}, 400, "whole number"),
    ({"name": "a", "scope": "read", "rate": "9" * 50}, 400, "whole number"),
    ({"name": "a", "scope": "read", "rate": "1.5"}, 400, "whole"),
    ({"name": "a\N{RIGHT-TO-LEFT OVERRIDE}b", "scope": "read"}, 400, "visible characters"),
    ({"name": "x" * 101, "scope": "read"}, 400, "100"),
    ({"name": "a", "scope": "read", "sources": "x" * 61}, 400, "platform"),
    ({"name": "taken", "scope": "read"}, 409, "in use"),
)


def test_a_key_that_makes_no_sense_is_not_made_and_the_form_comes_back_as_it_was(standing_world, anna):
    create_key(standing_world.store, "taken", ["read"])
    before = standing_world.rows("select count(*) from api_keys")
    for fields, status, says in SENSELESS:
        shown = page(anna.post("/keys", **fields), status)
        assert 'role="alert"' in shown
        assert says in shown, fields
        if fields.get("scope") == "read":
            assert 'value="read" checked' in shown
            assert 'value="scrape" checked' not in shown
    assert standing_world.rows("select count(*) from api_keys") == before


def test_a_name_stays_a_name_whatever_it_says(standing_world, anna):
    shown = page(anna.post("/keys", name=EVIL, scope="read", sources='"><svg/onload=alert(1)>'), 201)
    assert "&lt;script&gt;" in shown
    listed = anna.see("/keys")
    assert "{{7*7}}" in listed
    (key_id,) = (
        row[0] for row in standing_world.rows("select id from api_keys where name = :name", name=EVIL)
    )
    assert "&lt;script&gt;" in anna.see(f"/keys/{key_id}/revoke")
    page(anna.post("/keys", name=EVIL, scope=EVIL, lasts=EVIL, rate=EVIL, sources=EVIL), 400)
    anna.see(f"/{EVIL.replace(' ', '%20')}", 404)


def test_an_administrator_with_an_odd_name_breaks_no_page(world):
    visitor = with_anna(world, name=EVIL)
    page(visitor.send("/login", name=EVIL, password="wrong horse battery", next=EVIL), 401)
    assert "&lt;script&gt;" in visitor.log_in(name=EVIL).see("/keys")


@pytest.mark.parametrize("host", ["evil.example/;rm -rf", 'a"; touch x; "', "$(id)", "`id`", "a b"])
def test_a_host_that_is_none_is_not_put_into_a_line_for_the_shell(anna, host):
    held = {
        "Host": host,
        "Cookie": f"{SECURE_NAME}={anna.cookie}",
    }  # what is no host of this machine counts as far away
    shown = page(anna.send("/keys", held, name=f"host {host}", scope="read", csrf=anna.csrf), 201)
    assert "http://127.0.0.1:8000/api/status" in shown


def test_no_secret_of_a_whole_visit_is_in_the_log_or_in_an_address(world, caplog):
    caplog.set_level(logging.DEBUG)
    anna = with_anna(world).log_in()
    token = made_of(page(anna.post("/keys", name="s", scope="read"), 201))
    page(anna.send("/keys", name="forged", scope="read"), 403)
    page(Visitor(world.url).send("/login", name="anna", password="wrong horse battery"), 401)
    csrf = anna.csrf
    anna.post("/logout")
    for line in (
        "POST '/login': 303, by somebody who is not logged in",
        "POST '/keys': 201, by administrator anna",
    ):
        assert line in caplog.text
    for secret in (GOOD, "wrong horse", anna.cookie, csrf, token[17:]):
        assert secret not in caplog.text

"""The pages about sources, on both databases: what they show, and that forms do what commands do."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.harness.tasks import SOMEBODY, done, entry, failed, filing
from tests.web.pages.visitor import page, with_anna
from thresher.admin import sources as control
from thresher.admin.gates import gate_activity, show_gate
from thresher.admin.times import read_now
from thresher.core.clock import MINUTE, SECOND
from thresher.store.sources import judge_source

EVIL = """<script>alert(1)</script>"' onmouseover=alert(1) {{7*7}}"""


@pytest.fixture
def anna(world):
    control.add(world.store, "cafe", {"rate": "2", "trip_after": "3"})
    return with_anna(world).log_in()


def test_every_source_stands_there_with_its_state_and_its_reason_and_hosts_only_when_asked_for(world, anna):
    world.store.enqueue([entry(gates=["source:cafe"], key=f"{n}") for n in range(3)])
    world.store.enqueue([entry(gates=["host:cafe.example"], key="host")])
    world.store.settle([done(task) for task in world.store.turn([], 2, SOMEBODY).tasks])
    control.pause(world.store, "cafe", 3_600, "they asked us to", by_admin=True)
    world.store.turn([], 5, SOMEBODY)
    shown = anna.see("/sources")
    for said in ("cafe", '<span class="pill paused">', "admin: they asked us to", "2/s", "0 of 3 failures"):
        assert said in shown
    assert "1 tasks ended behind source:cafe within a day" in shown
    assert re.findall(r'/tasks\?source=([^"&]*)">(\d+)', shown) == [("source%3Acafe", "2")]
    assert '/tasks?source=source%3Acafe&amp;state=ended&amp;newer=1d">1 ended</a>, none failed' in shown
    assert "no new record" in shown
    assert "host:cafe.example" not in shown
    assert "host:cafe.example" in anna.see("/sources?all=1")


def test_an_empty_list_says_that_nothing_was_declared(world):
    assert "No sources yet" in with_anna(world).log_in().see("/sources")


def test_a_source_is_paused_with_a_reason_and_resumed_by_forms(world, anna):
    told = anna.post("/sources/cafe/pause", lasts="2h", pause_reason="tea time")
    assert (told.status, told.headers["Location"]) == (303, "/sources/cafe")
    gate = show_gate(world.store, "cafe")
    assert (gate.state, gate.why, gate.tag) == ("paused", "tea time", "admin")
    shown = anna.see("/sources/cafe")
    assert "an administrator; only an administrator opens it" in shown
    assert 'action="/sources/cafe/resume"' in shown
    assert 'action="/sources/cafe/enable"' not in shown
    assert anna.post("/sources/cafe/resume").status == 303
    assert show_gate(world.store, "cafe").state == "open"
    assert "tea time" in anna.see("/sources/cafe"), "what happened to it is remembered"


def test_a_source_is_paused_until_a_time_in_a_zone_that_the_form_names(world, anna):
    told = anna.post("/sources/cafe/pause", until="2999-11-20T08:00", zone="Asia/Tokyo", pause_reason="x")
    assert told.status == 400, "ten years are the most"
    now = read_now(world.store)
    soon = (datetime.fromtimestamp(now / SECOND, ZoneInfo("Asia/Tokyo")) + timedelta(hours=2)).replace(
        second=0
    )
    told = anna.post(
        "/sources/cafe/pause", until=f"{soon:%Y-%m-%dT%H:%M}", zone="Asia/Tokyo", lasts="", pause_reason="tea"
    )
    assert told.status == 303, told.body
    assert show_gate(world.store, "cafe").opens_at == int(soon.timestamp()) * SECOND


def test_a_source_is_disabled_and_enabled_by_forms(world, anna):
    assert anna.post("/sources/cafe/disable", disable_reason="gone").status == 303
    assert show_gate(world.store, "cafe").state == "disabled"
    assert 'action="/sources/cafe/enable"' in anna.see("/sources/cafe")
    refused = page(anna.post("/sources/cafe/pause", lasts="1h", pause_reason="x"), 409)
    assert "is disabled" in refused
    assert 'value="1h"' in refused, "the form comes back as it was"
    assert anna.post("/sources/cafe/enable").status == 303
    assert show_gate(world.store, "cafe").state == "open"


def test_limits_are_changed_one_by_one_and_the_others_stay(world, anna):
    anna.post("/sources/cafe/limits", in_flight="4", cooldown="5m")
    gate = show_gate(world.store, "cafe")
    assert (gate.rate, gate.max_in_flight, gate.trip_after, gate.cooldown) == (2.0, 4, 3, 300.0)
    anna.post("/sources/cafe/limits", in_flight="none")
    assert show_gate(world.store, "cafe").max_in_flight is None


@pytest.mark.parametrize(
    ("change", "fields", "says"),
    [
        ("pause", {"lasts": "soon", "pause_reason": "x"}, "90s"),
        ("pause", {"lasts": "0", "pause_reason": "x"}, "longer than 0"),
        ("pause", {"lasts": "1000000d", "pause_reason": "x"}, "ten years"),
        ("pause", {"lasts": "1h", "pause_reason": "  "}, "give a reason"),
        ("pause", {"pause_reason": "x"}, "not both"),
        (
            "pause",
            {"lasts": "1h", "until": "2999-01-01T08:00", "zone": "UTC", "pause_reason": "x"},
            "not both",
        ),
        ("pause", {"until": "2020-01-01T08:00", "zone": "UTC", "pause_reason": "x"}, "is over: it is"),
        (
            "pause",
            {"until": "2020-01-01T08:00", "zone": "", "pause_reason": "x"},
            "does not say its time zone",
        ),
        ("pause", {"until": "2020-01-01T08:00", "zone": EVIL, "pause_reason": "x"}, "is not a point in time"),
        ("disable", {"disable_reason": ""}, "give a reason"),
        ("limits", {}, "fill in the limit"),
        ("limits", {"rate": EVIL}, "&lt;script&gt;"),
        ("limits", {"burst": "-1"}, "burst"),
    ],
    ids=str,
)
def test_what_makes_no_sense_changes_nothing_and_says_why(world, anna, change, fields, says):
    before = show_gate(world.store, "cafe")
    shown = page(anna.post(f"/sources/cafe/{change}", **fields), 400)
    assert says in shown
    assert 'role="alert"' in shown
    assert show_gate(world.store, "cafe") == before


def test_a_tripped_breaker_is_seen_with_the_last_failure_and_resumed(world, anna):
    for _ in range(3):
        judge_source(world.store, "source:cafe", f"{EVIL} is down")
    shown = anna.see("/sources/cafe")
    assert '<span class="pill tripped">' in shown
    assert "3 failures in a row" in shown
    assert "&lt;script&gt;" in shown
    anna.post("/sources/cafe/resume")
    assert show_gate(world.store, "cafe").state == "open"


def test_a_source_without_a_test_says_so_and_nothing_is_asked(world, anna):
    shown = page(anna.post("/sources/cafe/test"))
    assert "No app declares a test" in shown
    assert 'action="/sources/cafe/test"' not in shown


def test_a_gate_that_nobody_has_made_is_told_of_and_its_name_stays_a_name(anna):
    for path in ("/sources/nobody", "/sources/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/sources/host:x/y"):
        assert "there is no source or gate" in anna.see(path, 404).lower()
    page(anna.post("/sources/nobody/resume"), 404)


def test_failures_are_counted_among_what_ended(world, anna):
    world.store.enqueue([entry(gates=["source:cafe"], key=f"{n}") for n in range(2)])
    one, *_ = world.store.turn([], 1, SOMEBODY).tasks
    world.store.settle([failed(one)])
    assert '&amp;newer=1d">1 failed</a>' in anna.see("/sources")
    assert "It was looked at, and no new record was written" in anna.see("/sources/cafe")


def test_finds_are_counted_where_they_were_first_written(world, anna):
    def look(number, *records):
        world.clock.advance(MINUTE)
        world.store.enqueue([entry(gates=["source:cafe"], key=f"look {number}")])
        (task,) = world.store.turn([], 1, SOMEBODY).tasks
        world.store.settle([done(task, records=records)])

    assert "Nothing was looked at, so nothing was found" in anna.see("/sources/cafe")
    look(1, filing("a"), filing("b"), filing("c"))
    look(2, filing("c"), filing("d"))
    activity = gate_activity(world.store, ["source:cafe"])["source:cafe"]
    assert (sum(activity.ended), sum(activity.found), activity.yields) == (2, 4, "2 a look")
    assert "4 new</a>, 2 a look" in anna.see("/sources")
    assert "4 records</a> that nobody had written before: 2 a look" in anna.see("/sources/cafe")

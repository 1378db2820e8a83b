"""Platforms, sessions and late bodies on the command line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Thresher
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service import scrapes
from thresher.apps.roles.service.arrivals import receive
from thresher.apps.roles.store.queue import Holder
from thresher.apps.roles.store.roles import add_role
from thresher.config.project import read_project
from thresher.core.errors import NotAllowed
from thresher.core.spooled import Spooled
from thresher.runtime import Runtime, opened_runtime

ANNA = Holder(1, "anna", None)


@pytest.fixture
def roles(folder: Path, thresher: Thresher) -> Thresher:
    """A project with two roles that wait."""
    (folder / "thresher.yaml").write_text("apps: [roles]\n")
    return thresher


@pytest.fixture
def shop(roles: Thresher, folder: Path) -> Iterator[Runtime]:
    with opened_runtime(f"sqlite:///{folder / 'thresher.db'}", read_project(folder)) as found:
        with found.store.write() as session:
            for name in ("Gardener", "Nurse"):
                add_role(
                    session,
                    name,
                    name.lower(),
                    now=found.store.backend.now(session),
                    demand=Demand.of(found.store.settings),
                )
        yield found


def body(offer: Any, *numbers: int) -> Spooled:
    jobs = [
        {"external_job_id": str(at), "platform": "dice", "title": f"Posting {at}", "company": f"{at}"}
        for at in numbers
    ]
    return Spooled.of(json.dumps({"session_id": offer.session_id, "jobs": jobs}).encode())


def taken(shop: Runtime) -> scrapes.Offer:
    offer = scrapes.claim(shop.store, ANNA)
    assert isinstance(offer, scrapes.Offer)
    return offer


def test_one_command_adds_the_well_known_boards_with_their_limits(roles: Thresher):
    told = roles("platforms", "add", "--preset", "job-boards")
    assert told.code == 0
    assert "dice (30 requests per minute)" in told.out
    limits = {each["name"]: each["requests_per_minute"] for each in roles("platforms", "list", "--json").json}
    assert limits == {"monster": 30, "indeed": 20, "glassdoor": 15, "techfetch": 60, "dice": 30}


@pytest.mark.promise(2)
def test_the_well_known_boards_change_nothing_that_a_person_has_set(roles: Thresher):
    roles("platforms", "add", "dice", "--per-minute", "5", "--every", "6h")
    roles("platforms", "pause", "dice")
    before = roles("platforms", "list", "--json").json
    added = roles("platforms", "add", "--preset", "job-boards", "--json").json
    assert (added["kept"], len(added["added"])) == (["dice"], 4)
    assert [each for each in roles("platforms", "list", "--json").json if each["name"] == "dice"] == before
    again = roles("platforms", "add", "--preset", "job-boards")
    assert again.out == "Already there, and left as they are: monster, indeed, glassdoor, techfetch, dice.\n"


def test_a_preset_is_used_alone_and_by_its_name(roles: Thresher):
    assert "the presets are: job-boards" in roles("platforms", "add", "--preset", "boards").err
    assert "without NAME" in roles("platforms", "add", "dice", "--preset", "job-boards").err
    assert "--preset job-boards" in roles("platforms", "add").err
    assert "--preset job-boards" in roles("platforms", "list").out
    assert roles("platforms", "list", "--json").json == []


def test_a_platform_may_be_the_first_thing_that_a_project_has(roles: Thresher):
    assert roles("platforms", "add", "dice").code == 0
    assert [each["name"] for each in roles("platforms", "list", "--json").json] == ["dice"]


def test_platforms_are_added_limited_paused_and_removed(roles: Thresher, shop: Runtime):
    assert "thresher platforms add" in roles("platforms", "list").out
    assert (
        roles("platforms", "add", "Dice", "--every", "12h", "--per-minute", "30", "--in-flight", "2").code
        == 0
    )
    assert roles("platforms", "add", "dice", "--in-flight", "none").code == 0
    (dice,) = roles("platforms", "list", "--json").json
    assert (dice["name"], dice["every_seconds"], dice["requests_per_minute"], dice["in_flight"]) == (
        "dice",
        43_200,
        30,
        None,
    )
    assert [each.name for each in taken(shop).platforms] == ["dice"]
    paused = roles("platforms", "pause", "dice", "--for", "2h", "--reason", "they asked us to", "--json")
    assert (paused.json["state"], paused.json["reason"]) == ("paused", "they asked us to")
    assert "they asked us to" in roles("platforms", "list").out
    assert isinstance(scrapes.claim(shop.store, ANNA), scrapes.Nothing)
    assert roles("platforms", "resume", "dice", "--json").json["state"] == "open"
    assert taken(shop).role.name == "Nurse"
    assert roles("platforms", "remove", "dice").code == 0
    assert roles("platforms", "list", "--json").json == []


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["pause", "nowhere"], 4, "platforms list"),
        (["resume", "nowhere"], 4, "platforms list"),
        (["remove", "nowhere"], 4, "platforms list"),
        (["add", "a b"], 2, "without spaces"),
        (["add", "dice", "--every", "often"], 2, "90s"),
        (["add", "dice", "--in-flight", "0"], 2, "in-flight"),
        (["pause", "nowhere", "--for", "0s"], 2, "longer than 0"),
        (["add", "dice", "--per-minute", "-1"], 2, "per-minute"),
    ],
)
def test_what_makes_no_sense_is_told(roles: Thresher, shop: Runtime, argv, code, says):
    ran = roles("platforms", *argv)
    assert ran.code == code
    assert says in ran.err


@pytest.mark.promise(20)
def test_sessions_are_listed_with_what_they_brought(roles: Thresher, shop: Runtime):
    assert "next-role" in roles("sessions", "list").out
    receive(shop.store, shop.registry, ANNA, body(taken(shop), 1, 2))
    failed = taken(shop)
    scrapes.fail(shop.store, ANNA, failed.session_id, scrapes.Failure("the login page came back"))
    last, first = roles("sessions", "list", "--json").json["sessions"]
    assert (first["role_name"], first["status"], first["jobs_imported"]) == ("Gardener", "completed", 2)
    assert (last["status"], last["error_message"]) == ("failed", "the login page came back")
    assert "the login page came back" in roles("sessions", "list", "--status", "failed").out
    assert roles("sessions", "list", "--status", "lost").code == 2
    assert roles("sessions", "list", "--key", "2", "--json").json == {"sessions": []}


def test_a_session_is_ended_by_command_and_what_its_scraper_still_sends_is_late(
    roles: Thresher, shop: Runtime
):
    offer = taken(shop)
    assert offer.session_id in "".join(roles("sessions", "list").out.split())
    ended = roles("sessions", "end", offer.session_id, "--reason", "it hangs")
    assert ended.out == f"Session {offer.session_id} is failed; its role is pending.\n"
    (shown,) = roles("sessions", "list", "--json").json["sessions"]
    assert (shown["status"], shown["error_message"]) == ("failed", "it hangs")
    with pytest.raises(NotAllowed, match="kept for review"):
        receive(shop.store, shop.registry, ANNA, body(offer, 1))
    assert "it hangs" in roles("late", "list").out
    again = roles("sessions", "end", offer.session_id)
    assert again.code != 0
    unknown = roles("sessions", "end", "nobody")
    assert (unknown.code, "thresher sessions list" in unknown.err) == (4, True)
    assert "sessions end" in roles("audit").out


@pytest.mark.promise(1)
def test_what_came_too_late_waits_for_a_person(roles: Thresher, shop: Runtime, late: Callable[[int], None]):
    assert "Nothing arrived too late" in roles("late", "list").out
    late(1)
    assert "1 body of a scraper arrived too late and waits for a decision" in roles("status").out
    late(2)
    assert "2 bodies of scrapers arrived too late and wait for a decision" in roles("status").out
    one, two = roles("late", "list", "--json").json
    assert (one["scraper_name"], one["role_name"], one["postings"]) == ("anna", "Gardener", 1)
    done = roles("late", "import", one["id"], "--json")
    assert (done.code, done.json["imported"]) == (0, 1), done.err
    assert roles("late", "import", one["id"]).code == 5
    assert roles("late", "drop", two["id"]).code == 0
    assert roles("late", "drop", 99).code == 4
    assert roles("late", "list", "--json").json == []
    assert [each["decision"] for each in roles("late", "list", "--all", "--json").json] == [
        "imported",
        "dropped",
    ]
    with shop.store.read() as session:
        assert session.rows("select key from records where kind = 'posting'") == [("dice/1",)]
        assert session.rows("select count(*) from tasks where kind = 'match_postings'") == [(1,)]


@pytest.fixture
def late(shop: Runtime) -> Callable[[int], None]:
    """Send a body with one posting for a session that has failed."""

    def send(number: int) -> None:
        offer = taken(shop)
        scrapes.fail(shop.store, ANNA, offer.session_id, scrapes.Failure("a bad day"))
        with pytest.raises(NotAllowed, match="thresher late list"):
            receive(shop.store, shop.registry, ANNA, body(offer, number))

    return send

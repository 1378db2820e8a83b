"""What the keeper of the scrapers is shown: sessions, figures and the queue, as the contract names them."""

import pytest

from tests.apps.roles.http.scraping import job, worlds
from tests.web.conftest import Api

MONITORING = "/api/scraper-monitoring"


@pytest.fixture(params=["sqlite", "postgres"])
def world(request, tmp_path):
    with worlds(request, tmp_path) as found:
        yield found


@pytest.fixture
def busy(world):
    """Zebra keeper was looked for first and Ape keeper last, so that the last name is not the largest."""
    for name, wanted in (("Zebra keeper", 3), ("Ape keeper", 2), ("Gardener", 1)):
        world.role(name, wanted)
    scraper = world.scraper("north")
    first = scraper.claim()
    world.pass_time(45)
    scraper.say("/jobs", first, jobs=[job(1), job(2), {"title": "no id"}])
    scraper.claim()
    return world


def test_sessions_are_listed_with_every_field_of_the_contract(busy):
    open_one, done = busy.keeper().get(f"{MONITORING}/sessions")["sessions"]
    wanted = {
        "scraper_name": "north",
        "role_name": "Zebra keeper",
        "status": "completed",
        "started_at": "2023-11-14T22:13:20.000Z",
        "completed_at": "2023-11-14T22:14:05.000Z",
        "duration_seconds": 45,
        "jobs_found": 3,
        "jobs_imported": 2,
        "jobs_skipped": 1,
        "error_message": None,
        "jobs_updated": 0,
        "jobs_linked": 0,
        "verdict": "found",
    }
    assert wanted.items() <= done.items()
    assert {"id", "session_id"} <= done.keys()
    assert (open_one["status"], open_one["completed_at"], open_one["duration_seconds"]) == (
        "in_progress",
        None,
        None,
    )


def test_sessions_are_filtered_as_the_contract_says(busy):
    keeper, south = busy.keeper(), busy.scraper("south")
    south.say("/fail", south.claim(), reason="the login page came back")
    (failed,) = keeper.get(f"{MONITORING}/sessions?status=failed")["sessions"]
    assert (failed["scraper_name"], failed["error_message"], failed["verdict"]) == (
        "south",
        "the login page came back",
        "failed",
    )
    assert (
        len(keeper.get(f"{MONITORING}/sessions?scraper_key_id={failed['scraper_key_id']}")["sessions"]) == 1
    )
    busy.pass_time(7_200)
    assert keeper.get(f"{MONITORING}/sessions?hours=1") == {"sessions": []}
    assert len(keeper.get(f"{MONITORING}/sessions?hours=3")["sessions"]) == 3
    for asked in (
        "status=lost",
        "hours=0",
        "hours=x",
        "scraper_key_id=0",
        "limit=5",
        "hours=99999999999999999999",
    ):
        assert keeper.ask("GET", f"{MONITORING}/sessions?{asked}").status in (400, 422)


def test_a_scraper_is_active_while_its_lease_runs_however_long_it_is_silent(busy):
    keeper = busy.keeper()
    busy.pass_time(3_000)
    told = keeper.get(f"{MONITORING}/stats")
    assert told == {
        "active_scrapers": 1,
        "totals": {
            "total_sessions": 1,
            "jobs_found": 3,
            "jobs_imported": 2,
            "jobs_updated": 0,
            "jobs_linked": 0,
            "jobs_skipped": 1,
            "avg_duration_seconds": 45.0,
        },
        "per_scraper": [
            {
                "scraper_name": "north",
                "scraper_key_id": told["per_scraper"][0]["scraper_key_id"],
                "session_count": 2,
                "jobs_imported": 2,
                "last_role": "Ape keeper",
                "last_activity": "2023-11-14T22:14:05.000Z",
            }
        ],
    }
    busy.pass_time(601)
    assert keeper.get(f"{MONITORING}/stats")["active_scrapers"] == 0


def test_the_queue_is_shown_in_the_order_in_which_it_is_served(busy):
    busy.role("Surgeon", 0, "urgent")
    found = busy.keeper().get(f"{MONITORING}/queue")["queue"]
    assert [
        (
            each["name"],
            each["queue_status"],
            each["priority"],
            each["candidate_count"],
            each["last_scraped_at"],
        )
        for each in found
    ] == [
        ("Surgeon", "pending", "urgent", 0, None),
        ("Ape keeper", "processing", "normal", 2, None),
        ("Gardener", "pending", "normal", 1, None),
    ]
    assert found[0].keys() == {"id", "name", "queue_status", "priority", "candidate_count", "last_scraped_at"}


@pytest.mark.promise(17)
def test_monitoring_is_for_administrators(busy):
    curious = busy.scraper("curious")
    for path in ("sessions", "stats", "queue"):
        assert curious.ask("GET", f"{MONITORING}/{path}").status == 403
        assert Api(busy.url).ask("GET", f"{MONITORING}/{path}").status == 401

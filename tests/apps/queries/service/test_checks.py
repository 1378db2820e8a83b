"""Lines of the doctor: what fails, rests, is stopped or was never run is said, and what to do about it."""

import pytest

from tests.apps.queries.harbour import Follower, Harbour, days_ago, offer, world
from thresher.apps.queries.outputs.access import KEY_FILE, SPREADSHEET
from thresher.apps.queries.service.checks import (
    check_alarms,
    check_clients,
    check_companies,
    check_queries,
    check_sheet,
)
from thresher.apps.queries.service.queries import add_query
from thresher.apps.queries.store.alarms import raise_alarm
from thresher.apps.queries.store.options import save_option
from thresher.core.extension import CheckLevel
from thresher.testing.web import Reply


@pytest.fixture
def harbour() -> Harbour:
    return Harbour()


@pytest.mark.promise(14)
def test_all_is_well_where_nothing_is_followed_and_nothing_is_wrong(harbour, monkeypatch):
    for name in (SPREADSHEET, KEY_FILE):
        monkeypatch.delenv(name, raising=False)
    with world(harbour) as made:
        for check in (check_queries, check_clients, check_alarms, check_sheet, check_companies):
            assert [each.verdict for each in check(made.store)] == [CheckLevel.OK], check


def test_a_query_that_fails_is_named_with_its_error(harbour):
    harbour.mood = lambda _: 500
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        (line,) = check_queries(made.store)
        assert line.verdict is CheckLevel.WARN
        assert "'docks' fails" in line.found
        assert "500" in line.found
        assert docks.key in (line.advice or "")


def test_a_query_that_nobody_runs_is_named_after_a_while(harbour):
    with world(harbour) as made:
        Follower(made, harbour)
        assert [each.verdict for each in check_queries(made.store)] == [CheckLevel.OK]
        made.clock.advance(7_200_000_000)
        (line,) = check_queries(made.store)
        assert "'docks' has never run" in line.found


def test_a_client_that_rests_says_how_long_and_why(harbour):
    harbour.mood = lambda _: Reply(status=429, headers={"retry-after": "7200"})
    with world(harbour) as made:
        Follower(made, harbour).cycle()
        (line,) = check_clients(made.store)
        assert "client harbour rests for 2h" in line.found
        assert "429" in line.found


def test_a_client_that_is_stopped_says_how_it_works_again(harbour):
    harbour.mood = lambda _: 401
    with world(harbour) as made:
        Follower(made, harbour).cycle()
        (line,) = check_clients(made.store)
        assert "client harbour is stopped" in line.found
        assert "thresher sources enable queries.harbour" in (line.advice or "")
        (alarm,) = check_alarms(made.store)
        assert "client_stopped/queries.harbour" in alarm.found


def test_a_variable_that_is_missing_is_named_before_anything_fails(harbour, monkeypatch):
    monkeypatch.delenv("ADZUNA_APP_ID", raising=False)
    with world(harbour) as made:
        add_query(made.store, "nurses", {"client": "adzuna"})
        (line,) = check_clients(made.store)
        assert "ADZUNA_APP_ID" in line.found


def test_several_alarms_are_counted(harbour):
    with world(harbour) as made:
        with made.store.write() as session:
            for name in ("one", "two", "three"):
                raise_alarm(session, {"name": name, "subject": "x", "message": "bad"}, 1)
        (line,) = check_alarms(made.store)
        assert "and 2 more" in line.found


def test_a_sheet_that_is_half_configured_is_a_warning(harbour, monkeypatch):
    monkeypatch.setenv(SPREADSHEET, "x" * 30)
    monkeypatch.delenv(KEY_FILE, raising=False)
    monkeypatch.delenv("GOOGLE_SERVICE_ACCOUNT_JSON", raising=False)
    with world(harbour) as made:
        (line,) = check_sheet(made.store)
        assert line.verdict is CheckLevel.WARN
        assert KEY_FILE in (line.advice or "")


def test_a_company_whose_figures_failed_is_named(harbour):
    harbour.put(offer(1, days_ago(1)))
    with world(harbour) as made:
        Follower(made, harbour).cycle()
        with made.store.write() as session:
            session.run("update company_signals set problem = 'ValueError: no'")
        (line,) = check_companies(made.store)
        assert "1 company could not be computed" in line.found
        assert "ValueError: no" in line.found


def test_a_sheet_that_is_declared_and_off_is_a_warning_that_status_shows(harbour, monkeypatch):
    for name in (
        "GOOGLE_SHEETS_SPREADSHEET_ID",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_SERVICE_ACCOUNT_JSON",
    ):
        monkeypatch.delenv(name, raising=False)
    with world(harbour) as made:
        with made.store.write() as session:
            save_option(session, "sheet", '{"tab": "Companies"}', made.clock.now())
        (found,) = check_sheet(made.store)
        assert (found.verdict, found.found) == (
            "warn",
            "Google Sheets is off, and the project file describes a sheet",
        )
        assert "GOOGLE_SHEETS_SPREADSHEET_ID" in found.advice
        with made.store.write() as session:
            save_option(session, "sheet", '{"folder": "companies"}', made.clock.now())
        assert check_sheet(made.store)[0].verdict == "ok"

"""`thresher queries` as a new user meets it."""

import json
import signal
from pathlib import Path

from tests.cli.conftest import Thresher, start
from thresher.apps.queries.service.queries import QueryView, show_query
from thresher.store.store import Store


def test_clients_are_listed_before_there_is_a_database(queries: Thresher, folder: Path):
    told = queries("queries", "clients")
    assert told.code == 0
    assert "ADZUNA_APP_KEY (not set)" in told.out
    assert "harbour" in told.out, "those of the project too"
    assert not (folder / "thresher.db").exists(), "looking makes no database"


def test_an_empty_list_says_how_to_begin(queries: Thresher, store: Store):
    assert "thresher queries add" in queries("queries", "list").out
    assert "No query has run yet" in queries("queries", "runs").out
    assert "No alarm is open" in queries("queries", "alarms").out
    assert "thresher queries list" in queries("signals", "list").out
    told = queries("queries", "watch")
    assert (told.code, "There are no queries" in told.out) == (0, True)


def test_a_query_lives_from_add_to_remove(queries: Thresher):
    told = queries("queries", "add", "nurses", "--client", "adzuna", "--parameter", "country=es")
    assert told.code == 0, told.err
    assert "ADZUNA_APP_ID, ADZUNA_APP_KEY, which is not set here" in told.out
    assert queries("queries", "pause", "nurses", "--reason", "tide").code == 0
    assert "paused: tide" in queries("queries", "list").out
    assert queries("queries", "resume", "nurses").code == 0
    assert "due now" in queries("queries", "run", "nurses").out
    dry = queries("queries", "backfill", "nurses", "--from", "2026-01-01", "--to", "2026-01-31", "--dry-run")
    assert "would look at 31 days" in dry.out
    assert "Nothing was changed" in dry.out
    assert queries("queries", "show", "nurses", "--json").json["query"]["start_date"] > "2026-01-01"
    done = queries("queries", "backfill", "nurses", "--from", "2026-01-01", "--to", "2026-01-31")
    assert "looks at 31 days" in done.out
    assert queries("queries", "show", "nurses", "--json").json["query"]["start_date"] == "2026-01-01"
    assert queries("queries", "reset", "nurses").code == 0
    assert "is retired" in queries("queries", "remove", "nurses").out
    assert queries("queries", "list", "--json").json == []
    assert "retired" in queries("queries", "list", "--retired").out


def test_mistakes_are_named_with_what_to_do(queries: Thresher, store: Store):
    for words, says in (
        (("queries", "add", "x", "--client", "nope"), "write one of adzuna"),
        (("queries", "add", "x", "--client", "adzuna", "--parameter", "country"), "NAME=VALUE"),
        (
            ("queries", "add", "x", "--client", "adzuna", "--parameter", "contry=es"),
            "category, company, country",
        ),
        (("queries", "add", "x", "--client", "remotive", "--start", "soon"), "2026-10-01"),
        (("queries", "show", "nobody"), "queries list --retired"),
        (("queries", "runs", "nobody"), "queries list --retired"),
        (("queries", "watch", "nobody"), "queries list --retired"),
        (("queries", "run", "nobody"), "queries list --retired"),
        (("queries", "backfill", "nobody", "--from", "soon"), "2026-01-31"),
        (("signals", "show", "nobody"), "signals list"),
        (("signals", "list", "--resolution", "MAYBE"), "PENDING"),
    ):
        told = queries(*words)
        assert told.code not in (0, 70), (words, told)
        assert says in told.err, (words, told.err)


def test_what_the_project_file_declares_is_changed_there(queries: Thresher, folder: Path):
    declared = "apps: [queries]\nqueries:\n  searches:\n    docks: {client: harbour, text: dock}\n"
    (folder / "thresher.yaml").write_text(declared)
    assert queries("queries", "run").code == 0
    (listed,) = queries("queries", "list", "--json").json
    assert (listed["name"], listed["declared_in"]) == ("docks", "file")
    assert "remove it there: queries.searches" in queries("queries", "remove", "docks").err
    again = queries("queries", "add", "mine", "--client", "harbour", "--text", "DOCK")
    assert "declares this query as 'docks'" in again.err
    (folder / "thresher.yaml").write_text("apps: [queries]\n")
    assert queries("queries", "run").code == 0
    assert queries("queries", "list", "--json").json == [], "what is no longer declared is retired"


def test_one_query_is_shown_with_its_strip_of_days(queries: Thresher, docks: QueryView):
    told = queries("queries", "show", "docks")
    assert "█ seen  ▓ looked at again  ▒ partial  · missing" in told.out
    assert "window exhausted" in told.out
    (run,) = queries("queries", "runs", "--json").json
    assert (run["query_key"], run["status"]) == (docks.query_key, "SUCCESS")
    assert "docks" in queries("queries", "runs").out


def test_alarms_are_listed_while_they_are_open(queries: Thresher, docks: QueryView, store: Store):
    told = queries("queries", "alarms")
    assert "zero_rows" in told.out
    assert "nobody yet" in told.out
    with store.write() as session:
        session.run("update query_alarms set cleared_at = 5")
    assert queries("queries", "alarms", "--json").json == []
    (over,) = queries("queries", "alarms", "--all", "--json").json
    assert (over["is_open"], over["cleared_at"][:4]) == (False, "1970")


def test_a_wish_to_sync_is_one_task_however_often_it_is_said(queries: Thresher, docks: QueryView):
    first, second = (queries("queries", "sync", "--json").json for _ in range(2))
    assert (first["new"], second["new"], first["id"] == second["id"]) == (True, False, True)
    assert "already" in queries("queries", "sync").out


def test_watching_tells_of_each_run_that_ends_and_ends_when_nothing_is_due(
    queries: Thresher, docks: QueryView, store: Store, folder: Path
):
    with store.write() as session:
        session.run("update query_state set due_at = 0, status = 'IDLE'")
        session.run("update ingestion_runs set status = 'RUNNING', finished_at = null, task_id = 0")
    watcher = start("queries", "watch", "--json", cwd=folder)
    assert watcher.stdout is not None
    first = json.loads(watcher.stdout.readline())
    assert (first["name"], first["days_wanted"] > 0) == ("docks", True)
    with store.write() as session:
        session.run("update ingestion_runs set status = 'SUCCESS', finished_at = started_at + 1")
        session.run("update query_state set due_at = 9000000000000000, status = 'SUCCESS'")
    rest, wrong = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, wrong
    runs = [json.loads(line) for line in rest.splitlines() if '"run"' in line]
    assert [each["name"] for each in runs] == ["docks"]
    assert runs[0]["said"].startswith("docks: SUCCESS in ")
    assert "No worker is running" in wrong, "somebody who waits is told why"


def test_ctrl_c_ends_the_watching_and_nothing_else(
    queries: Thresher, docks: QueryView, store: Store, folder: Path
):
    with store.write() as session:
        session.run("update query_state set due_at = 0")
    watcher = start("queries", "watch", cwd=folder)
    assert watcher.stdout is not None
    assert "docks" in watcher.stdout.readline()
    watcher.send_signal(signal.SIGINT)
    _, wrong = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, wrong
    assert show_query(store, "docks").query.paused_at is None


def test_nothing_that_strangers_wrote_steers_the_terminal(queries: Thresher, store: Store):
    told = queries("queries", "add", "x", "--client", "remotive", "--text", "\x1b[31mred")
    assert "\x1b" not in told.out + told.err
    for words in (("queries", "list"), ("queries", "show", "x")):
        assert "\x1b" not in queries(*words).out

"""`thresher signals`: companies on the command line."""

from tests.cli.conftest import Thresher
from thresher.apps.queries.service.queries import QueryView
from thresher.store.store import Store


def test_companies_are_listed_the_strongest_first(queries: Thresher, docks: QueryView):
    found = queries("signals", "list", "--json").json
    assert [each["company"] for each in found] == ["acme.example", "brick.example"]
    assert found[0]["max_score"] > found[1]["max_score"]
    assert found[0]["first_seen_at"].startswith("20"), "a time, not a number"
    told = queries("signals", "list", "--limit", "1")
    assert "Acme" in told.out
    assert "Brick" not in told.out


def test_one_company_shows_why(queries: Thresher, docks: QueryView):
    told = queries("signals", "show", "acme")
    assert "treasury" in told.out.lower()
    assert "+" in told.out
    assert queries("signals", "show", "acme.example", "--json").json["offers"][0]["posting"] == "a/1"


def test_a_decision_is_kept_with_who_made_it(queries: Thresher, docks: QueryView):
    told = queries(
        "signals", "decide", "Acme", "--resolution", "HIGH_INTEREST", "--feedback", "OK", "--notes", "call"
    )
    assert told.out == "Acme is HIGH_INTEREST, feedback OK; notes: call.\n"
    found = queries("signals", "show", "Acme", "--json").json
    assert [each["field"] for each in found["decisions"]] == ["resolution", "feedback", "notes"]
    assert all(each["by"] for each in found["decisions"])
    assert "before" in queries("signals", "show", "Acme").out
    assert queries("signals", "decide", "Acme", "--feedback", "").code == 0
    assert queries("signals", "show", "Acme", "--json").json["company"]["feedback"] is None
    for words, says in (
        (("--resolution", "MAYBE"), "PENDING"),
        (("--feedback", "YES"), "FP"),
        ((), "nothing to decide"),
    ):
        wrong = queries("signals", "decide", "Acme", *words)
        assert wrong.code != 0
        assert says in wrong.err


def test_a_name_that_two_companies_share_is_asked_back(queries: Thresher, docks: QueryView, store: Store):
    with store.write() as session:
        session.run("update company_signals set name = 'Twin'")
    told = queries("signals", "show", "twin")
    assert told.code != 0
    assert "acme.example or brick.example" in told.err
    assert queries("signals", "show", "brick.example").code == 0


def test_queries_runs_and_signals_are_exported(queries: Thresher, docks: QueryView):
    lines = queries("export", "queries").out.splitlines()
    assert lines[1].startswith("docks,harbour,dock,")
    assert queries("export", "queries", "--status", "ERROR").out.splitlines()[1:] == []
    runs = queries("export", "ingestion-runs").out.splitlines()
    assert len(runs) == 2
    assert docks.query_key in runs[1]
    signals = queries("export", "signals", "-f", "jsonl").out.splitlines()
    assert len(signals) == 2
    assert '"category_max_scores"' in signals[0]

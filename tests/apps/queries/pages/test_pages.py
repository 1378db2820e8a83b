"""The pages: what people see of queries, signals and alarms, what they change, and that nothing which
strangers wrote ever runs."""

import re

import pytest

from tests.apps.queries.scene import EVIL, add_client, fill
from tests.apps.queries.signals.market import STRONG, row
from tests.web.pages.visitor import page, with_anna
from thresher.admin.records import write_records
from thresher.apps.queries.service.queries import add_query, show_query
from thresher.apps.queries.service.signals import show_company
from thresher.apps.queries.store.aggregates import aggregate_companies
from thresher.apps.queries.store.alarms import raise_alarm
from thresher.apps.queries.store.offers import upsert_offers
from thresher.core.record import Link
from thresher.hiring.records import posting_entry


def section(text: str, name: str) -> str:
    return " ".join(text.partition(f'id="{name}"')[2].partition("</section>")[0].split())


@pytest.mark.promise(7)
def test_what_is_empty_says_what_was_not_searched(world):
    anna = with_anna(world).log_in()
    shown = anna.see("/queries")
    assert "nothing was searched" in shown
    assert "No run yet" in section(shown, "runs")
    assert "Adzuna" in section(shown, "clients")
    assert "No company has offers yet" in anna.see("/signals")
    assert "No alarm is open" in anna.see("/alarms")


def test_a_query_is_shown_with_its_days_and_its_runs(world):
    query = fill(world.store)
    anna = with_anna(world).log_in()
    shown = anna.see("/queries")
    assert f'href="/queries/{query.query_key.replace(":", "%3A")}"' in shown
    assert "docks" in section(shown, "runs"), "a run is named as its query is"
    one = anna.see(f"/queries/{query.query_key}")
    assert re.search(r"<svg[^>]* role=\"img\" aria-labelledby=\"days-said\">", one)
    assert "days seen" in section(one, "days")
    assert "window exhausted" in section(one, "runs")
    anna.see("/queries/nobody", 404)


def test_the_number_of_offers_leads_to_the_postings_that_the_query_has_found(world):
    key = fill(world.store).query_key
    found = Link("query", key)
    other = posting_entry("a/3", {"title": "Rigger", "state": "open"}, Link("query", "locks"))
    treasurer = posting_entry("a/1", {"title": "Treasurer", "state": "open"}, found)
    baker = posting_entry("a/2", {"title": "Baker", "state": "closed"}, found)
    write_records(world.store, [treasurer, baker, other])
    anna = with_anna(world).log_in()
    where = f"/hiring/postings?query={key}"
    for path in ("/queries", f"/queries/{key}"):
        assert f'href="{where.replace(":", "%3A")}">2</a>' in anna.see(path), path
    shown = anna.see(where)
    assert re.findall("Treasurer|Baker|Rigger", section(shown, "found")) == ["Baker", "Treasurer"]
    assert f"Only those found by the query <bdi>{key}</bdi>" in shown
    assert f'name="query" value="{key}"' in shown, "what is looked for next is among them"
    shown = section(anna.see(f"{where}&state=open"), "found")
    assert re.findall("Treasurer|Baker|Rigger", shown) == ["Treasurer"]
    empty = section(anna.see(f"{where}&outcome=saved"), "found")
    assert f"No posting found by the query <bdi>{key}</bdi> is saved" in empty
    empty = section(anna.see("/hiring/postings?query=nobody"), "found")
    assert "There is no posting found by the query <bdi>nobody</bdi>" in empty


def test_a_query_is_added_run_paused_and_resumed_in_a_browser(world):
    add_client(world.store)
    anna = with_anna(world).log_in()
    told = anna.post(
        "/queries", name="locks", client="harbour", text="lock", parameters="", start="2001-02-03"
    )
    assert told.status == 303, told.body
    assert "2001-02-03" in anna.see(told.headers["Location"]), "the history begins with that day"
    for change, has in (("pause", "Resume"), ("resume", "Pause"), ("run", "Pause")):
        assert anna.post(f"/queries/locks/{change}").status == 303
        assert f">{has}</button>" in anna.see("/queries/locks")
    assert anna.post("/queries/locks/burn").status in (400, 422)
    assert show_query(world.store, "locks").query.paused_at is None


def test_days_are_looked_at_again_once_somebody_is_sure(world):
    key = fill(world.store).query_key
    anna = with_anna(world).log_in()
    before = show_query(world.store, key)
    span = {"from": "2001-01-01", "to": "2001-01-03"}
    told = anna.post(f"/queries/{key}/backfill", **span)
    assert "3 days, 2001-01-01 to 2001-01-03, are looked at again" in page(told, told.status)
    told = anna.post(f"/queries/{key}/reset")
    assert "days that were seen are forgotten" in page(told, told.status)
    assert '/reset">' in section(page(told, told.status), "again")
    assert show_query(world.store, key) == before, "nothing is done before somebody is sure"
    assert anna.post(f"/queries/{key}/backfill", **span, sure="yes").status == 303
    assert show_query(world.store, key).query.start_date.isoformat() == "2001-01-01"
    assert anna.post(f"/queries/{key}/reset", sure="yes").status == 303
    assert show_query(world.store, key).query.last_processed_date is None
    for wrong, says in (
        ({"from": "soon", "to": ""}, "must be a day"),
        ({"from": "2001-01-03", "to": "2001-01-01"}, "is no span"),
    ):
        told = anna.post(f"/queries/{key}/backfill", **wrong, sure="yes")
        assert told.status == 400
        assert says in page(told, 400)
        assert f'value="{wrong["from"]}"' in page(told, 400), "what was typed is still there"


def test_a_form_with_a_mistake_comes_back_as_it_was_filled_in(world):
    add_client(world.store)
    anna = with_anna(world).log_in()
    told = anna.post(
        "/queries", name="locks", client="harbour", text=f"lock {EVIL}", parameters="size", start=""
    )
    shown = page(told, told.status)
    assert told.status == 400
    assert "NAME=VALUE" in shown
    assert "lock &lt;img" in shown
    assert '<option value="harbour" selected>' in shown
    fill(world.store)
    told = anna.post("/signals/acme.example", resolution="MAYBE", feedback="FP", notes="my notes")
    shown = page(told, told.status)
    assert told.status == 400
    assert "is not a resolution" in shown
    assert "my notes</textarea>" in shown
    assert show_company(world.store, "acme.example").decisions == []


def test_a_company_is_decided_about_in_a_browser(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    shown = anna.see("/signals")
    assert shown.index(">Acme<") < shown.index(">Brick<"), "the strongest first"
    told = anna.post("/signals/acme.example", resolution="HIGH_INTEREST", feedback="OK", notes="call")
    assert (told.status, told.headers["Location"]) == (303, "/signals/acme.example")
    one = anna.see("/signals/acme.example")
    assert '<option value="HIGH_INTEREST" selected>' in one
    assert "administrator anna" in section(one, "decision")
    found = show_company(world.store, "acme.example")
    assert (found.company.resolution, found.company.feedback, found.company.notes) == (
        "HIGH_INTEREST",
        "OK",
        "call",
    )
    assert len(found.decisions) == 3
    assert (
        anna.post("/signals/acme.example", resolution="HIGH_INTEREST", feedback="OK", notes="").status == 303
    )
    assert show_company(world.store, "acme.example").company.notes is None
    assert ">Brick<" not in anna.see("/signals?resolution=HIGH_INTEREST")
    assert anna.see("/signals/Acme"), "a name is enough"


def test_a_resolution_that_the_rules_no_longer_have_may_stay(world):
    fill(world.store)
    with world.store.write() as session:
        session.run("update company_signals set resolution = 'WARM' where company = 'acme.example'")
    anna = with_anna(world).log_in()
    assert '<option value="WARM" selected>' in anna.see("/signals/acme.example")
    assert anna.post("/signals/acme.example", resolution="WARM", feedback="", notes="later").status == 303
    assert show_company(world.store, "acme.example").company.notes == "later"


@pytest.mark.promise(17)
def test_what_strangers_wrote_is_shown_and_never_run_nor_followed(world):
    fill(world.store, note=f"it said {EVIL} {{{{7*7}}}}")
    bad = {**row("a/3", "evil.example", title=f"Boss {EVIL}", text=STRONG, name=f"Evil {EVIL}")}
    bad["url"] = "javascript:alert(document.cookie)"
    with world.store.write() as session:
        now = world.store.backend.now(session)
        upsert_offers(session, {"offers": [bad]}, now)
        aggregate_companies(session, {"companies": ["evil.example"]}, now)
        raise_alarm(session, {"name": "zero_rows", "subject": f"x{EVIL}", "message": f"why {EVIL}"}, now)
        session.run(
            "update company_signals set problem = :evil where company = 'evil.example'", {"evil": EVIL}
        )
    add_query(world.store, f"nets {EVIL}", {"client": "harbour", "text": EVIL})
    anna = with_anna(world).log_in()
    for path in ("/queries", "/queries/docks", "/signals", "/signals/evil.example", "/alarms"):
        shown = anna.see(path)
        assert EVIL not in shown, path
        assert "javascript:" not in shown, path
    assert "{{7*7}}" in anna.see("/queries/docks")
    assert "Boss &lt;img" in anna.see("/signals/evil.example")


def test_alarms_that_are_over_are_shown_on_demand(world):
    query = fill(world.store)
    anna = with_anna(world).log_in()
    assert query.query_key in anna.see("/alarms")
    with world.store.write() as session:
        session.run("update query_alarms set cleared_at = 5")
    assert "No alarm is open" in anna.see("/alarms")
    assert ">over<" in anna.see("/alarms?all=1")


def test_a_change_without_the_token_of_the_login_is_refused(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    assert anna.send("/signals/acme.example", resolution="REJECTED").status == 403
    assert anna.send("/queries/docks/pause").status == 403
    assert show_company(world.store, "acme.example").company.resolution == "PENDING"

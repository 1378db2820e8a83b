"""The pages: what people see of items, sources and collections, what they change, and that nothing which
strangers wrote ever runs."""

import re

import pytest

from tests.apps.prices.listings import filed, row
from tests.apps.prices.scene import ASKS, EVIL, SALES, fill
from tests.harness.tasks import claim, done, entry, failed, put, retry, rows, settle, worker
from tests.web.pages.visitor import page, with_anna
from thresher.apps.prices.service.alerts import list_alerts
from thresher.apps.prices.service.items import show_item
from thresher.apps.prices.service.sources import show_source
from thresher.core.clock import HOUR, MINUTE
from thresher.core.settlement import Blame, Health
from thresher.store import sources


def section(text: str, name: str) -> str:
    return " ".join(text.partition(f'id="{name}"')[2].partition("</section>")[0].split())


@pytest.mark.promise(7)
def test_what_is_empty_says_what_was_not_looked_for(world):
    anna = with_anna(world).log_in()
    assert "nothing was looked for" in anna.see("/prices")
    assert "nothing can be looked for" in anna.see("/price-sources")
    assert "Nothing was looked for among the newest 20,000 tasks" in section(
        anna.see("/price-collections"), "recent"
    )


@pytest.mark.promise(20)
def test_an_item_is_shown_with_its_value_its_chart_and_every_price_behind_it(world):
    item = fill(world.store)
    anna = with_anna(world).log_in()
    listed = section(anna.see("/prices"), "items")
    assert f'href="/prices/{item}"' in listed
    assert "53.00 USD" in listed
    assert "8 of 10" in listed
    shown = anna.see(f"/prices/{item}")
    assert "14 sales and 5 asks from one source." in shown
    assert "the valuation is 53.00 USD, from 48.00 USD to 59.00 USD" in section(shown, "chart")
    assert f"Prices that count ({SALES + ASKS})" in shown
    left_out = section(shown, "left-out")
    assert "its grade is MS66" in left_out
    assert "74 % of them were paid" in section(shown, "confidence")
    assert section(shown, "history").count('role="row"') == 4  # the head and three values
    anna.see("/prices/999999", 404)
    anna.see("/prices/morgan", 400)


@pytest.mark.promise(13)
def test_a_price_shows_the_words_it_was_read_from_and_what_matched(world):
    item = fill(world.store)
    anna = with_anna(world).log_in()
    evidence = next(part for part in anna.see(f"/prices/{item}").split('"') if "/points/" in part)
    shown = anna.see(evidence)
    assert re.search(r"Read from</dt><dd>“<bdi>\$\d+\.\d\d</bdi>”", shown)
    assert "/items/0/price" in shown
    assert "1921" in section(shown, "match")
    anna.see(f"/prices/{item}/points/999999", 404)


def cells(text: str, name: str) -> list[list[str]]:
    """What the rows of a table say, each cell under the name of its column."""
    found = section(text, name).split('<tr role="row">')[2:]
    parts = [re.findall(r'data-label="([^"]+)"[^>]*>(.*?)</t[dh]>', each) for each in found]
    return [[f"{label}: {re.sub('<[^>]*>', '', said).strip()}" for label, said in each] for each in parts]


@pytest.mark.promise(1)
def test_how_collecting_goes_is_shown_column_by_column(world):
    """What an operator asked the database by hand: recent tasks, tasks by worker, stuck ones, duplicates."""
    item = fill(world.store)
    (source,) = rows(world.store, "select id from price_sources")
    said = {"item": item, "source": source[0]}
    put(world.store, *(entry("collect_prices", key=str(at), payload=said) for at in range(4)))
    one, two, three = claim(world.store, 3, worker(world.store, "anna", MINUTE))
    settle(world.store, done(one), failed(two))
    world.clock.advance(HOUR)
    anna = with_anna(world).log_in()
    shown = anna.see("/price-collections")
    recent = {each[0]: each for each in cells(shown, "recent")}
    good, bad, held = (recent.pop(f"Task: {each.id}") for each in (one, two, three))
    assert [each.partition(":")[0] for each in good] == [
        *("Task", "Item", "Source", "Status", "Locked by", "Heartbeat", "Created", "Completed", "Error")
    ]
    assert good[1:5] == ["Item: 1921-D Morgan", "Source: bay", "Status: succeeded", "Locked by: anna"]
    assert all(re.fullmatch(r"\w+: 2023-11-14.*", each) for each in good[5:8]), good
    assert bad[3:] == ["Status: failed", *good[4:8], "Error: Gone: 404"]
    assert held[3:] == ["Status: running", *good[4:7], "Completed: –", "Error: –"]
    ((_, *waits),) = recent.values()
    assert waits[2:5] == ["Status: pending", "Locked by: –", "Heartbeat: –"]
    assert cells(shown, "workers") == [
        ["Status: failed", "Worker: anna", "Collections: 1"],
        ["Status: pending", "Worker: –", "Collections: 1"],
        ["Status: running", "Worker: anna", "Collections: 1"],
        ["Status: succeeded", "Worker: anna", "Collections: 1"],
    ]
    (stuck,) = cells(shown, "stuck")
    assert stuck[1:4] == ["Item: 1921-D Morgan", "Source: bay", "Locked by: anna"]
    assert stuck[-1] == "Silent for: 1h"
    assert "Duplicate price points: 0" in shown
    with world.store.write() as session:
        both = [row(100 + at, external_id=f"x{at}") for at in range(2)]
        filed(session, both, 1, item=item, source=source[0])
        session.run("drop index price_points_key")
        session.run("update price_points set dedupe_key = 'ext_x0' where dedupe_key = 'ext_x1'")
    shown = anna.see("/price-collections")
    assert "Duplicate price points: 1" in shown
    assert cells(shown, "duplicates") == [["Item: 1921-D Morgan", "Source: bay", "Key: ext_x0", "Rows: 2"]]


@pytest.mark.promise(10)
def test_how_a_source_stands_is_shown_column_by_column(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    (fine,) = cells(anna.see("/price-sources"), "main")
    assert fine[1:5] == ["State: open", "Failures in a row: 0", "Last success: never", "Last failure: never"]
    put(world.store, *(entry("collect_prices", key=str(at), gates=("source:prices.bay",)) for at in range(5)))
    for _ in range(5):
        world.clock.advance(MINUTE)
        (task,) = claim(world.store, 1)
        settle(world.store, retry(task, HOUR, blame=Blame(Health.FAILURE, "ServerError: 503")))
    (down,) = cells(anna.see("/price-sources"), "main")
    assert "5 failures in a row, the last: ServerError: 503until " in down[1]
    assert down[2] == "Failures in a row: 5"
    assert "ServerError: 503" in down[4]
    assert "never" not in down[4]
    sources.disable(world.store, "source:prices.bay", "manual", "too expensive")
    (shut,) = cells(anna.see("/price-sources"), "main")
    assert shut[1] == "State: disabledtoo expensive"


@pytest.mark.promise(17)
def test_what_strangers_wrote_is_text_and_leads_nowhere(world):
    item = fill(world.store)
    anna = with_anna(world).log_in()
    for path in ("/prices", f"/prices/{item}", f"/prices/{item + 1}", "/price-collections"):
        shown = anna.see(path)
        assert EVIL not in shown, path
        assert "javascript:" not in shown, path


def test_an_item_is_added_watched_archived_and_brought_back_in_a_browser(world):
    anna = with_anna(world).log_in()
    told = anna.post(
        "/prices",
        name="1893-S Morgan",
        kind="coin",
        attributes="denomination = dollar\nyear=1893\nmintmark=S",
        include="",
        exclude="replica\ncopy",
        currency="USD",
        urls="",
    )
    assert told.status == 303, told.body
    place = told.headers["Location"]
    name = place.rpartition("/")[2]
    item = show_item(world.store, name).item
    assert (item.status, item.attributes["year"], item.exclude) == ("attributed", "1893", ("replica", "copy"))
    assert anna.post(f"{place}/watch", every="12h").status == 303
    assert show_item(world.store, name).item.refresh_seconds == 43_200
    assert anna.post(f"{place}/alerts", below="400.00", above="", change="10%").status == 303
    alerts = list_alerts(world.store, name)
    assert {each.kind for each in alerts} == {"below", "change"}
    assert anna.post(f"{place}/forget", alert=str(alerts[0].id)).status == 303
    assert len(list_alerts(world.store, name)) == 1
    assert anna.post(f"{place}/archive").status == 303
    assert show_item(world.store, name).item.archived_at
    assert ">Bring back</button>" in anna.see(place)
    assert anna.post(f"{place}/unarchive").status == 303
    assert not show_item(world.store, name).item.archived_at
    assert anna.post(f"{place}/burn").status == 400


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"attributes": "year"}, "write one NAME=VALUE a line"),
        ({"attributes": "colour=red"}, "colour"),
        ({"currency": "ZZZ"}, "no currency"),
        ({"kind": "ship"}, "no kind of item"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_that_was_typed_is_lost(world, wrong, says):
    anna = with_anna(world).log_in()
    said = {"name": "Morgan", "kind": "coin", "attributes": "year=1921", "include": "silver", "exclude": ""}
    told = anna.post("/prices", **(said | {"currency": "USD", "urls": ""} | wrong))
    assert told.status == 400
    shown = page(told, told.status)
    assert says in shown
    assert "silver" in section(shown, "new")


def test_an_alert_that_cannot_be_is_refused_on_the_page_of_the_item(world):
    item = fill(world.store)
    anna = with_anna(world).log_in()
    for wrong in ({"below": "cheap"}, {"change": "a lot"}, {}):
        told = anna.post(f"/prices/{item}/alerts", **({"below": "", "above": "", "change": ""} | wrong))
        assert told.status == 400, wrong
        assert 'role="alert"' in page(told, told.status)
    assert list_alerts(world.store, str(item)) == []


def test_what_a_source_counts_and_how_long_its_answers_are_used_is_changed_in_a_browser(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    assert 'href="/price-sources/bay"' in anna.see("/price-sources")
    assert "It has no rules" in anna.see("/price-sources/bay")
    anna.see("/price-sources/nobody", 404)
    told = anna.post("/price-sources/bay", tier="2", reputation="0.9", cache_seconds="60")
    assert told.status == 303, told.body
    found = show_source(world.store, "bay")
    assert (found.tier, found.reputation, found.cache_seconds) == (2, 0.9, 60)
    assert anna.post("/price-sources/bay", tier="2", reputation="0.9", cache_seconds="").status == 303
    assert show_source(world.store, "bay").cache_seconds is None
    for wrong in ({"tier": "11"}, {"reputation": "high"}, {"cache_seconds": "-1"}):
        told = anna.post(
            "/price-sources/bay", **({"tier": "2", "reputation": "0.9", "cache_seconds": ""} | wrong)
        )
        assert told.status == 400, wrong
    assert show_source(world.store, "bay").tier == 2

"""Price points, explanations and history as people see them: every point with its quote, and why it does not
count.
"""

import pytest

from tests.apps.prices.people import COIN, LIST, MORGAN, RATES, URL, add_club, add_morgan, made_world, priced
from tests.harness.databases import Database
from thresher.admin.explain import explain
from thresher.apps.prices.amounts import amount_of
from thresher.apps.prices.app import app
from thresher.apps.prices.model import PriceType
from thresher.apps.prices.service.alerts import add_alerts, list_alerts, remove_alerts
from thresher.apps.prices.service.items import archive_item, show_item
from thresher.apps.prices.service.prices import (
    PointFilter,
    checked_price_type,
    explain_item,
    list_points,
    show_history,
    show_point,
)
from thresher.apps.prices.service.rates import import_rates, list_rates
from thresher.apps.prices.service.refresh import collect_now
from thresher.core.clock import MINUTE
from thresher.core.errors import UnknownName, UsageError
from thresher.store import sources as gates
from thresher.testing.world import World


def test_points_are_listed_with_filters_and_by_page(club: World) -> None:
    item = str(priced(club))
    store = club.store

    def ids(wanted: PointFilter, **how: int) -> list[str | None]:
        return [each.external_id for each in list_points(store, item, wanted, **how)]

    whole = list_points(store, item)
    assert sorted(each.external_id or "" for each in whole) == ["1", "2", "3", "5", "6"]
    assert set(ids(PointFilter(price_type=PriceType.SOLD))) == {"1", "2", "3"}
    assert set(ids(PointFilter(price_type=PriceType.ASK, source="club"))) == {"5", "6"}
    assert ids(PointFilter(counts=False)) == []
    first = list_points(store, item, limit=2)
    rest = list_points(store, item, after=first[-1].id)
    assert [*first, *rest] == whole
    lot = next(each for each in whole if each.external_id == "5")
    assert (lot.price, lot.unit, lot.quantity) == (amount_of(20_000, "USD"), amount_of(4_000, "USD"), 5)
    with pytest.raises(UnknownName, match="no price source 'bay'"):
        list_points(store, item, PointFilter(source="bay"))
    with pytest.raises(UsageError, match="write one of sold, ask, bid"):
        checked_price_type("paid")


def test_a_point_shows_its_quote_and_what_matched(club: World) -> None:
    item = str(priced(club))
    point = next(each for each in list_points(club.store, item) if each.external_id == "1")
    found = show_point(club.store, item, point.id)
    assert (found.point, found.quote) == (point, "$45.00")
    assert {each.name: each.verdict for each in found.signals}["year"] == "matches"
    assert found.body is not None
    with pytest.raises(UnknownName, match="has no price point 99"):
        show_point(club.store, item, 99)
    other = add_morgan(club, "Another")
    with pytest.raises(UnknownName, match=f"'Another' has no price point {point.id}"):
        show_point(club.store, str(other), point.id)


@pytest.mark.promise(13)
def test_an_explanation_names_every_point_that_counts_and_why_the_others_do_not(club: World) -> None:
    item = str(priced(club))
    found = explain_item(club.store, item)
    assert found.item.value is not None
    assert "2 sales and 1 ask" in found.explanation
    assert {each.point.external_id for each in found.counted} == {"1", "3", "5"}
    assert len(found.counted) == found.item.value.comp_count, "what is shown is what was counted"
    assert {each.point.external_id: each.point.reason for each in found.not_counted} == {
        "2": "grade MS63, and the value is of no grade stated",
        "6": "no exchange rate from EUR",
    }
    assert sum(found.left_out.values()) == len(found.not_counted)
    assert "match" in {each.name for each in found.confidence}


def test_an_outlier_is_named(database: Database) -> None:
    url = database.address(app)
    rows = "".join(f"{n},1921-D Morgan dollar,${40 + n}.00,USD,sold,2023-11-01,\n" for n in range(1, 9))
    text = f"id,title,price,currency,type,date,url\n{rows}99,1921-D Morgan dollar,$9000.00,USD,sold,2023-11-01,\n"
    with made_world(url, {URL: text}) as world:
        found = explain_item(world.store, str(priced(world)))
        assert [(each.point.external_id, each.point.reason) for each in found.not_counted] == [
            ("99", "outliers")
        ]


def test_before_there_is_evidence_an_explanation_says_so(club: World) -> None:
    item = str(add_morgan(club))
    assert "was not looked for yet" in explain_item(club.store, item).explanation
    add_club(club)
    medal = add_morgan(club, "Medal", attributes={**COIN, "year": "1804"})
    club.run_until_idle()
    found = explain_item(club.store, str(medal))
    assert found.counted == []
    assert found.item.value is None or found.item.value.median is None, "never a number from nothing"


def test_a_changed_ask_is_told_in_the_history(database: Database) -> None:
    url = database.address(app)
    with made_world(url, settings={"prices.cache_enabled": 0}) as world:
        item = str(priced(world))
        world.web.add({URL: LIST.replace("$200.00", "$150.00")})
        world.advance(days=2)
        collect_now(world.store, world.registry, [item])
        world.run_until_idle()
        found = show_history(world.store, item)
        changed = [each for each in found.observations if each.what == "changed"]
        assert [each.price for each in changed] == [amount_of(15_000, "USD")]
        assert len(found.values) == 2
        assert found.values[0].p20 == amount_of(3_000, "USD")


def test_rates_bring_prices_of_other_currencies_in(club: World) -> None:
    item = str(priced(club))
    found = import_rates(club.store, RATES.encode(), "rates.csv", "eur")
    assert (found.base, found.rates, found.changed, found.revalued) == ("EUR", 2, 2, 1)
    assert import_rates(club.store, RATES.encode(), "rates.csv", "EUR").changed == 0
    assert [(each.currency, each.count) for each in list_rates(club.store)] == [("USD", 2)]
    club.advance(minutes=5)
    club.run_until_idle()
    explained = explain_item(club.store, item)
    assert "6" in {each.point.external_id for each in explained.counted}
    for body in (b"day,currency,rate\n2023-11-03,USD,-1\n", b"nonsense", b"\xff\xfe\x00"):
        with pytest.raises(UsageError):
            import_rates(club.store, body, "rates.csv", "EUR")


# Looking now


def test_a_dry_run_says_what_is_asked_and_what_not_and_asks_nothing(club: World) -> None:
    add_club(club)
    add_morgan(club)
    club.run_until_idle()
    add_morgan(club, "Elsewhere", sources=["bay"])
    add_morgan(club, "Half", attributes={"year": "1921"})
    archive_item(club.store, str(add_morgan(club, "Old")))
    tasks = len(club.tasks())
    found = collect_now(club.store, club.registry, dry_run=True)
    assert {each.item: (each.asked, each.why) for each in found.plans} == {
        MORGAN: (True, None),
        "Elsewhere": (False, "the item names other sources: bay"),
        "Half": (False, "the item lacks denomination"),
    }
    assert (found.dry_run, found.added, found.not_asked, len(club.tasks())) == (True, 0, 2, tasks)
    (old,) = collect_now(club.store, club.registry, ["Old"], dry_run=True).plans
    assert (old.asked, old.why) == (False, "the item is archived")


@pytest.mark.promise(7)
def test_a_paused_source_is_named_and_waited_for(club: World) -> None:
    add_club(club)
    gates.pause(club.store, "source:prices.club", 5 * MINUTE, "429")
    item = str(add_morgan(club))
    (plan,) = collect_now(club.store, club.registry, [item]).plans
    assert plan.asked
    assert plan.why is not None
    assert plan.why.startswith("source club is paused until")
    club.run_until_idle(within=60)
    assert show_item(club.store, item).item.collected_at is None, "it never succeeds with nothing"
    club.advance(minutes=6)
    club.run_until_idle()
    assert show_item(club.store, item).item.status == "priced"


def test_what_is_under_way_is_not_asked_for_twice(club: World) -> None:
    add_club(club)
    item = str(add_morgan(club))
    found = collect_now(club.store, club.registry, [item])
    assert (found.added, found.already) == (0, 1)
    assert found.plans[0].why == "task 1 waits for a worker: thresher run, or thresher worker"
    club.run_until_idle()
    again = collect_now(club.store, club.registry, [item], ["club"])
    assert (again.added, again.already, again.plans[0].task is not None) == (1, 0, True)
    for names, sources in ((["nothing"], []), ([], ["nowhere"])):
        with pytest.raises(UnknownName):
            collect_now(club.store, club.registry, names, sources)


# Alerts


def test_an_alert_is_added_once_and_told_when_the_value_passes(club: World) -> None:
    add_club(club)
    item = str(add_morgan(club))
    (made,) = add_alerts(club.store, item, below="50")
    assert (made.amount, made.armed, made.says) == (
        amount_of(5_000, "USD"),
        True,
        f"{MORGAN} falls below 50.00 USD",
    )
    assert add_alerts(club.store, item, below="50.00") == [made]
    club.run_until_idle()
    (told,) = list_alerts(club.store, item)
    assert (told.armed, told.times) == (False, 1)
    assert remove_alerts(club.store, [made.id])[0].id == made.id
    assert list_alerts(club.store) == []
    with pytest.raises(UnknownName, match="thresher prices alerts list shows them"):
        remove_alerts(club.store, [made.id])


def test_a_threshold_that_is_no_amount_is_refused_by_name(club: World) -> None:
    item = str(add_morgan(club))
    with pytest.raises(UsageError, match="above: '1,000' is no amount of USD"):
        add_alerts(club.store, item, below="5", above="1,000")
    with pytest.raises(UsageError, match="change: 'much' is no change"):
        add_alerts(club.store, item, change="much")
    assert list_alerts(club.store) == [], "all or none"
    archive_item(club.store, item)
    with pytest.raises(UsageError, match="archived; thresher prices unarchive"):
        add_alerts(club.store, item, below="5")


def test_removing_several_alerts_removes_all_or_none(club: World) -> None:
    item = str(add_morgan(club))
    (made,) = add_alerts(club.store, item, below="5")
    with pytest.raises(UnknownName, match="no alert 99"):
        remove_alerts(club.store, [made.id, 99])
    assert [each.id for each in list_alerts(club.store)] == [made.id]


# thresher explain


def test_thresher_explain_knows_an_item_by_name_and_by_its_tasks(club: World) -> None:
    item = priced(club)
    found = explain(club.store, [app], MORGAN)
    assert (found.kind, found.key, found.title, found.outcome) == ("price item", str(item), MORGAN, "priced")
    said = "\n".join(found.sentences)
    assert "Counts: 45.00 USD sold at club" in said
    assert "no exchange rate from EUR" in said
    assert {each["kind"] for each in found.tasks} == {"collect_prices", "value_item"}
    (task,) = club.tasks("collect_prices")
    by_task = explain(club.store, [app], str(task["id"]))
    assert (by_task.key, [each["id"] for each in by_task.tasks]) == (str(item), [task["id"]])
    with pytest.raises(UnknownName):
        explain(club.store, [app], "Nothing of ours")

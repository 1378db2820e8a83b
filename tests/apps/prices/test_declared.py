"""The key `prices` of the project file: what it declares, what it refuses, and what becomes of it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.prices.people import LIST, RATES, made_world
from tests.harness.databases import Database
from thresher.apps.prices.app import app
from thresher.apps.prices.declared import declare
from thresher.apps.prices.service.alerts import add_alerts, list_alerts, remove_alerts
from thresher.apps.prices.service.items import (
    add_item,
    archive_item,
    change_item,
    list_views,
    show_item,
    watch_item,
)
from thresher.apps.prices.service.rates import list_rates
from thresher.apps.prices.service.sources import change_source, retire_source
from thresher.apps.prices.service.sources import list_views as list_sources
from thresher.apps.prices.store.overview import ItemFilter
from thresher.config.project import read_project
from thresher.core.clock import HOUR
from thresher.core.errors import ConfigError, UsageError
from thresher.testing.world import World

FILE = """apps: [prices]
prices:
  rates: {file: rates.csv, base: EUR}
  sources:
    club: {adapter: csv, options: {file: list.csv}, tier: 3, rate_per_minute: null}
  items:
    1921-D Morgan:
      kind: coin
      attributes: {denomination: dollar, year: 1921, mintmark: D}
      refresh: 12h
      alerts: {below: 40.50, change: 10%}
    Lamp: {attributes: {model: L5}, sources: [club]}
"""
TABLES = (
    "price_items",
    "price_sources",
    "price_alerts",
    "price_options",
    "exchange_rates",
    "price_collections",
)

Declare = Callable[[str], None]


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    url = database.address(app)
    with made_world(url) as made:
        yield made


@pytest.fixture
def declared(world: World, tmp_path: Path) -> Declare:
    (tmp_path / "rates.csv").write_text(RATES)
    (tmp_path / "list.csv").write_text(LIST)

    def work(text: str) -> None:
        (tmp_path / "thresher.yaml").write_text(text)
        declare(world.store, read_project(tmp_path).declaration(app))

    return work


def stored(world: World) -> dict[str, Any]:
    with world.store.read() as session:
        return {name: sorted(map(str, session.rows(f"select * from {name}"))) for name in TABLES}


def test_what_the_file_declares_is_in_the_database_and_is_looked_for(world: World, declared: Declare) -> None:
    declared(FILE)
    morgan, lamp = list_views(world.store)
    assert (morgan.name, morgan.status, morgan.refresh_seconds, morgan.declared_in) == (
        "1921-D Morgan",
        "attributed",
        12 * HOUR // 1_000_000,
        "file",
    )
    assert (lamp.sources, lamp.currency) == (("club",), "USD")
    (club,) = list_sources(world.store)
    assert (club.tier, club.declared_in, club.options) == (3, "file", {"file": "list.csv"})
    assert [(each.kind, str(each.amount), each.percent) for each in list_alerts(world.store)] == [
        ("below", "40.50 USD", None),
        ("change", "None", 10.0),
    ]
    assert [(each.base, each.currency, each.count) for each in list_rates(world.store)] == [("EUR", "USD", 2)]
    world.run_until_idle()
    item = show_item(world.store, "1921-D Morgan").item
    assert item.value is not None
    assert item.value.median is not None, "the refresh looked for it in the file of the project"


def test_the_same_file_again_writes_nothing(world: World, declared: Declare) -> None:
    declared(FILE)
    world.run_until_idle()
    before, tasks = stored(world), len(world.tasks())
    world.advance(hours=1)
    declared(FILE)
    assert (stored(world), len(world.tasks())) == (before, tasks)


def test_what_is_no_longer_there_is_archived_or_retired_and_kept(world: World, declared: Declare) -> None:
    declared(FILE)
    world.run_until_idle()
    declared("apps: [prices]\nprices: {items: {Lamp: {attributes: {model: L5}}}}\n")
    assert [each.name for each in list_views(world.store)] == ["Lamp"]
    archived = show_item(world.store, "1921-D Morgan").item
    assert (archived.status, archived.value is not None) == ("archived", True)
    assert list_sources(world.store) == []
    assert [each["detail"]["name"] for each in world.events("price_item_archived")] == ["1921-D Morgan"]
    assert [each["detail"]["name"] for each in world.events("price_source_retired")] == ["club"]
    declared(FILE)
    back = show_item(world.store, "1921-D Morgan").item
    assert (back.id, back.status, back.archived_at) == (archived.id, "priced", None)


def test_without_the_key_everything_that_was_declared_goes(world: World, declared: Declare) -> None:
    declared(FILE)
    add_item(world.store, world.registry, "Mine", {"attributes": {"model": "1"}})
    declared("apps: [prices]\n")
    assert [each.name for each in list_views(world.store)] == ["Mine"]


def test_what_the_file_declares_is_changed_there_and_nowhere_else(world: World, declared: Declare) -> None:
    declared(FILE)
    store, registry = world.store, world.registry
    for change in (
        lambda: change_item(store, registry, "Lamp", {"currency": "EUR"}),
        lambda: archive_item(store, "Lamp"),
        lambda: watch_item(store, "Lamp", "1h"),
        lambda: add_item(store, registry, "Lamp", {}),
    ):
        with pytest.raises(
            UsageError, match=r"the project file declares the item 'Lamp'; change it there: prices.items.L"
        ):
            change()
    for touch in (
        lambda: change_source(store, registry, "club", {"tier": 1}),
        lambda: retire_source(store, "club"),
    ):
        with pytest.raises(
            UsageError, match=r"the project file declares the source 'club'; .* there: prices\.sources"
        ):
            touch()


def test_alerts_of_people_stay_when_those_of_the_file_go(world: World, declared: Declare) -> None:
    declared(FILE)
    (mine,) = add_alerts(world.store, "1921-D Morgan", above="99")
    declared(FILE.replace("alerts: {below: 40.50, change: 10%}", "alerts: {below: 41}"))
    assert [(each.kind, str(each.amount)) for each in list_alerts(world.store)] == [
        ("above", "99.00 USD"),
        ("below", "41.00 USD"),
    ]
    remove_alerts(world.store, [mine.id])
    declared(FILE.replace("      alerts: {below: 40.50, change: 10%}\n", ""))
    assert list_alerts(world.store) == []


def test_an_alert_of_the_file_is_removed_there_or_with_its_item(world: World, declared: Declare) -> None:
    """Removed by a person it would be back, and armed, with the next command."""
    declared(FILE)
    (mine,) = add_alerts(world.store, "1921-D Morgan", above="99")
    both = [each.id for each in list_alerts(world.store) if each.id != mine.id]
    assert len(both) == 2
    with pytest.raises(
        UsageError, match=r"declares alert \d+; remove it there: prices\.items\.1921-D Morgan"
    ):
        remove_alerts(world.store, [mine.id, both[0]])
    assert len(list_alerts(world.store)) == 3, "all or none"
    declared(FILE.partition("    1921-D Morgan:")[0] + "    Lamp: {attributes: {model: L5}}\n")
    assert len(remove_alerts(world.store, [mine.id, *both])) == 3, "nobody declares them any more"


def test_an_item_of_a_person_may_be_taken_over_by_the_file(world: World, declared: Declare) -> None:
    add_item(world.store, world.registry, "Lamp", {"attributes": {"model": "L4"}})
    declared(FILE)
    lamp = show_item(world.store, "Lamp").item
    assert (lamp.declared_in, lamp.attributes) == ("file", {"model": "L5"})
    assert len(list_views(world.store, ItemFilter(text="lamp"))) == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "year: 1921",
            "year: soon",
            "thresher.yaml:9: prices.items.1921-D Morgan.attributes.year Year on the",
        ),
        (
            "kind: coin",
            "kind: stamp",
            "thresher.yaml:8: prices.items.1921-D Morgan.kind 'stamp' is no kind of item",
        ),
        (
            "refresh: 12h",
            "refresh: often",
            "thresher.yaml:10: prices.items.1921-D Morgan.refresh a duration must be",
        ),
        (
            "below: 40.50",
            "below: cheap",
            "thresher.yaml:11: prices.items.1921-D Morgan.alerts.below 'cheap' is no amount of USD",
        ),
        ("below: 40.50", "under: 40.50", "prices.items.1921-D Morgan.alerts.under under is not a known key"),
        ("change: 10%", "change: 0%", "alerts.change '0%' is no change"),
        ("below: 40.50", "below: [1]", r"alerts.below \[1\] is wrong; write an amount such as 40.50"),
        ("tier: 3", "tier: 11", "thresher.yaml:5: prices.sources.club.tier 11 is wrong"),
        ("adapter: csv", "adapter: fax", "prices.sources.club.adapter adapter is 'fax'; write one of"),
        ("file: list.csv", "path: list.csv", "prices.sources.club .*no option 'path'"),
        ("file: list.csv", "file: list.csv, folder: /etc", "options.folder is written by Thresher itself"),
        ("club:", "Club List:", "'Club List' is no name of a source"),
        (
            "rates.csv",
            "nothing.csv",
            "thresher.yaml:3: prices.rates.file nothing.csv cannot be read: No such file",
        ),
        (
            "rates.csv",
            "../secret.csv",
            "prices.rates.file '../secret.csv' is not inside the project's folder",
        ),
        ("base: EUR", "base: euros", "prices.rates.base 'euros' is no currency"),
        ("items:", "things:", "prices.things things is not a known key; the keys are items, rates, sources"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line_and_changes_nothing(
    world: World, declared: Declare, old: str, new: str, says: str
) -> None:
    before = stored(world)
    assert old in FILE
    with pytest.raises(ConfigError, match=says):
        declared(FILE.replace(old, new, 1))
    assert stored(world) == before


def test_a_wrong_line_of_the_rates_is_named(world: World, declared: Declare, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text(RATES + "2023-11-15,USD,much\n")
    with pytest.raises(ConfigError, match=r"prices.rates .*rates.csv.*4"):
        declared(FILE)
    assert list_rates(world.store) == []
    assert list_views(world.store) == []

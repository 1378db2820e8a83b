"""Items: added, imported, changed, listed, watched and archived; each change whole or not at all."""

import pytest

from tests.apps.prices.people import COIN, LIST, MORGAN, URL, add_club, add_morgan, made_world, priced
from tests.harness.databases import Database
from thresher.apps.prices.amounts import amount_of
from thresher.apps.prices.app import app
from thresher.apps.prices.item_file import read_item_sheet
from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service.items import (
    add_item,
    archive_item,
    change_item,
    count_by_status,
    import_items,
    list_kinds,
    list_views,
    show_item,
    unarchive_item,
    watch_item,
)
from thresher.apps.prices.store.overview import ItemFilter
from thresher.core.errors import UnknownName, UsageError
from thresher.testing.world import World


def collections(world: World) -> list[tuple[str, str]]:
    return [(each["dedupe_key"], each["state"]) for each in world.tasks("collect_prices")]


def test_an_item_goes_from_pending_to_attributed_to_priced_to_archived(club: World) -> None:
    add_club(club)
    found = add_item(club.store, club.registry, MORGAN, {"kind": "coin", "attributes": {"year": "1921"}})
    assert (found.new, found.item.status, found.item.lacks, found.collections) == (
        True,
        "pending",
        ("denomination",),
        0,
    )
    assert collections(club) == [], "what cannot be looked for is not looked for"
    (waits,) = show_item(club.store, MORGAN).waits
    assert waits == "it lacks denomination: thresher prices change 1 --set denomination=..."
    changed = change_item(club.store, club.registry, MORGAN, {}, attributes=COIN)
    assert (changed.new, changed.changed, changed.item.status, changed.collections) == (
        False,
        True,
        "attributed",
        1,
    )
    club.run_until_idle()
    item = show_item(club.store, MORGAN).item
    assert item.status == "priced"
    assert item.value is not None
    assert item.value.median == amount_of(4_500, "USD")
    assert item.value.comp_count == 3
    assert archive_item(club.store, MORGAN).status == "archived"
    assert count_by_status(club.store) == {"archived": 1}
    back = unarchive_item(club.store, club.registry, MORGAN)
    assert (back.item.status, back.item.archived_at, back.collections) == ("priced", None, 1)


def test_the_same_again_changes_nothing_and_asks_for_nothing(club: World) -> None:
    add_club(club)
    add_morgan(club)
    club.run_until_idle()
    before = show_item(club.store, MORGAN).item
    again = add_item(club.store, club.registry, MORGAN, {"kind": "coin", "attributes": COIN})
    assert (again.new, again.changed, again.collections, again.item) == (False, False, 0, before)
    assert len(collections(club)) == 1


def test_another_cadence_asks_for_nothing(club: World) -> None:
    item = priced(club)
    assert watch_item(club.store, str(item), "12h").refresh_seconds == 43_200
    assert watch_item(club.store, MORGAN, "auto").refresh_seconds is None
    with pytest.raises(UsageError, match="every: must be from 1m to 365d"):
        watch_item(club.store, MORGAN, "1s")
    assert len(collections(club)) == 1


def test_an_attribute_is_changed_by_itself_and_taken_away(club: World) -> None:
    item = add_morgan(club)
    found = change_item(club.store, club.registry, str(item), {}, attributes={"grade": "MS63"})
    assert found.item.attributes == {**COIN, "grade": "MS63"}
    found = change_item(club.store, club.registry, str(item), {"exclude": ["lot"]}, attributes={"grade": ""})
    assert (found.item.attributes, found.item.exclude) == (COIN, ("lot",))
    with pytest.raises(UsageError, match=r"attributes.colour: a coin has no such attribute"):
        change_item(club.store, club.registry, str(item), {}, attributes={"colour": "red"})


def test_a_name_of_digits_is_no_other_items_id(club: World) -> None:
    first = add_morgan(club)
    other = add_item(club.store, club.registry, str(first), {"attributes": {"model": "5"}})
    assert other.new, "it would have changed the first item"
    assert show_item(club.store, str(first)).item.name == str(first), "the name counts before the id"


def test_items_are_listed_by_filters_and_by_page(club: World) -> None:
    add_club(club)
    for number in range(5):
        add_morgan(club, f"Coin {number}")
    add_item(club.store, club.registry, "50% Lamp_5", {"attributes": {"model": "L5"}})
    add_item(club.store, club.registry, "Nameless", {})
    archive_item(club.store, "Coin 4")
    store = club.store

    def names(wanted: ItemFilter, **how: int) -> list[str]:
        return [each.name for each in list_views(store, wanted, **how)]

    assert names(ItemFilter(kind="product")) == ["50% Lamp_5", "Nameless"]
    assert names(ItemFilter(ItemStatus.PENDING)) == ["Nameless"]
    assert names(ItemFilter(ItemStatus.ARCHIVED)) == ["Coin 4"]
    assert names(ItemFilter(text="cOiN"), limit=2) == ["Coin 0", "Coin 1"]
    assert names(ItemFilter(text="coin"), limit=2, after=2) == ["Coin 2", "Coin 3"]
    assert names(ItemFilter(text="coin", archived=True), after=3) == ["Coin 3", "Coin 4"]
    assert names(ItemFilter(text="0% l")) == ["50% Lamp_5"], "a percent sign is a percent sign"
    assert names(ItemFilter(text="n_")) == []
    assert names(ItemFilter(text="p_5")) == ["50% Lamp_5"]


def test_an_import_brings_all_or_nothing(club: World) -> None:
    add_club(club)
    text = "name,kind,denomination,year\nA,coin,dollar,1921\nB,coin,dollar,1922\nC,coin,,1923\n"
    found = import_items(club.store, club.registry, read_item_sheet(text, "x.csv").wishes)
    assert (found.new, found.changed, found.unchanged, found.collections) == (3, 0, 0, 2)
    again = import_items(
        club.store, club.registry, read_item_sheet(text.replace("1922", "1900"), "x.csv").wishes
    )
    assert (again.new, again.changed, again.unchanged, again.collections) == (0, 1, 2, 0)
    assert [each.status for each in list_views(club.store)] == ["attributed", "attributed", "pending"]
    assert len(collections(club)) == 2, "the changed one waits already"


def test_many_items_are_asked_for_in_portions_by_the_refresh(database: Database) -> None:
    url = database.address(app)
    with made_world(url, {URL: LIST}) as world:
        add_club(world)
        rows = "".join(f"Coin {number},coin,dollar,1921\n" for number in range(501))
        sheet = read_item_sheet(f"name,kind,denomination,year\n{rows}", "x.csv")
        found = import_items(world.store, world.registry, sheet.wishes)
        assert (found.new, found.collections) == (501, 501)
        assert collections(world) == []
        assert [each["state"] for each in world.tasks("refresh_prices")] == ["pending"]


def test_a_name_that_is_not_there_says_where_to_look(club: World) -> None:
    for name in ("Nothing", "99", "9" * 30, "a\x1b[31m"):
        with pytest.raises(UnknownName, match="thresher prices list --archived shows them all"):
            show_item(club.store, name)


def test_kinds_say_what_is_required_and_what_each_attribute_takes() -> None:
    coin = next(each for each in list_kinds() if each.name == "coin")
    takes = {each.name: (each.required, each.takes) for each in coin.attributes}
    assert (takes["year"], takes["cleaned"]) == ((True, "text"), (False, "yes or no"))

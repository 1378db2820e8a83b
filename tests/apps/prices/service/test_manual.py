"""Prices that a person enters: read strictly, judged as any other, filed once."""

import pytest

from tests.apps.prices.collecting import OpenWorld, add_item, add_source, item_spec, points, spec
from tests.harness.tasks import rows
from thresher.apps.prices.model import Adapter, ItemStatus, Origin, PriceType, SourceSpec
from thresher.apps.prices.service.manual import MAX_ROWS, add_points, import_points
from thresher.apps.prices.store.items import set_status
from thresher.apps.prices.store.points import evidence_of
from thresher.apps.prices.store.sources import list_price_sources, save_price_source
from thresher.core.errors import UnknownName, UsageError

FAIR = {"title": "1921 Morgan dollar", "price": "45.00", "type": "sold", "date": "2023-11-01"}
FILE = (
    b"title,price,currency,type,date\n"
    b"1921 Morgan dollar,45.00,USD,sold,2023-11-01\n"
    b"1922 Morgan dollar,46.00,USD,sold,2023-11-01\n"
    b"1921 Morgan dollar,cheap,USD,sold,2023-11-01\n"
)


def test_a_price_that_a_person_enters_is_filed_and_the_item_valued(world: OpenWorld) -> None:
    with world({}) as made:
        item = add_item(made.store)
        done = add_points(made.store, made.registry, "Morgan dollar", [FAIR])
        assert (done.item, done.source, done.counted, done.filed) == (
            "Morgan dollar",
            "manual",
            1,
            {"price_points_new": 1},
        )
        (found,) = points(made.store, item)
        assert (found.price, found.currency, found.price_type, found.counts) == (
            4_500,
            "USD",
            PriceType.SOLD,
            True,
        )
        made.run_until_idle(within=1)
        assert [each["state"] for each in made.tasks("value_item")] == ["succeeded"]
        with made.store.read() as session:
            (source,) = list_price_sources(session)
            evidence = evidence_of(session, found.id)
        assert (source.spec.adapter, source.origin) == (Adapter.MANUAL, Origin.PERSON)
        assert evidence is not None
        assert (evidence.quote, evidence.place) == ("45.00", "row 1")
        assert evidence.body is not None


@pytest.mark.promise(2)
def test_the_same_price_entered_twice_is_one_point(world: OpenWorld) -> None:
    with world({}) as made:
        item = add_item(made.store)
        for _ in range(3):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR, FAIR])
        assert len(points(made.store, item)) == 1


def test_a_row_without_a_title_is_about_the_item_itself(world: OpenWorld) -> None:
    with world({}) as made:
        add_item(made.store, item_spec("1921 Morgan dollar"))
        done = add_points(made.store, made.registry, "1921 Morgan dollar", [{"price": "45"}])
        assert (done.points[0].title, done.points[0].price) == ("1921 Morgan dollar", "45.00 USD")


def test_what_is_about_something_else_is_kept_and_does_not_count(world: OpenWorld) -> None:
    with world({}) as made:
        add_item(made.store)
        done = add_points(
            made.store, made.registry, "Morgan dollar", [{**FAIR, "title": "1922 Morgan dollar"}]
        )
        assert (done.counted, done.points[0].match_strength) == (0, 0)
        assert "1922" in (done.points[0].reason or "")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"price": "cheap"}, "row 2, price: 'cheap' is no price"),
        ({}, "row 2, price: is missing"),
        ({"price": "5", "currency": "XQZ"}, "row 2, currency: 'XQZ' is no currency"),
        ({"price": "5", "Amount": "6"}, "row 2, Amount: means the same as another column: price"),
        ({"price": "5", "url": "file:///etc/passwd"}, "row 2, url:"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_entered(world: OpenWorld, row: dict[str, str], says: str) -> None:
    with world({}) as made:
        add_item(made.store)
        with pytest.raises(UsageError, match=says):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR, row])
        assert rows(made.store, "select count(*) from price_points") == [(0,)]
        assert rows(made.store, "select count(*) from price_sources") == [(0,)]


def test_a_dry_run_says_how_each_row_is_judged_and_files_nothing(world: OpenWorld) -> None:
    with world({}) as made:
        add_item(made.store)
        done = import_points(made.store, made.registry, "Morgan dollar", FILE, dry_run=True)
        assert [(each.place, each.counts) for each in done.points] == [("line 2", True), ("line 3", False)]
        assert (done.bad_rows, done.dry_run, done.filed) == (1, True, {})
        assert done.bad[0].startswith("line 4: price: 'cheap' is no price")
        assert rows(made.store, "select count(*) from price_points") == [(0,)]
        assert rows(made.store, "select count(*) from price_sources") == [(0,)]
        assert rows(made.store, "select count(*) from tasks") == [(0,)]


def test_a_file_is_imported_without_its_bad_rows(world: OpenWorld) -> None:
    with world({}) as made:
        item = add_item(made.store)
        done = import_points(made.store, made.registry, "Morgan dollar", FILE)
        assert (done.filed, done.bad_rows, done.counted) == ({"price_points_new": 2}, 1, 1)
        assert {each.title[:4]: each.counts for each in points(made.store, item)} == {
            "1921": True,
            "1922": False,
        }


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "the file is empty"),
        (b"title,price\n", "a header and no rows"),
        (b"title,price,currency\nx,cheap,USD\n", "none of 1 rows can be read"),
        (b"title,price,currency\n" + b"x,1,USD\n" * (MAX_ROWS + 1), "over 10,000 rows; split it"),
    ],
    ids=["empty", "header", "bad", "long"],
)
def test_a_file_that_brings_nothing_is_refused(world: OpenWorld, body: bytes, says: str) -> None:
    with world({}) as made:
        add_item(made.store)
        with pytest.raises(UsageError, match=says):
            import_points(made.store, made.registry, "Morgan dollar", body)


def test_entries_belong_to_manual_sources_only(world: OpenWorld) -> None:
    with world({}) as made:
        item = add_item(made.store)
        add_source(made.store, spec("lists"))
        with pytest.raises(UsageError, match="lists is a csv source"):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR], source="lists")
        with pytest.raises(UnknownName, match="no price source 'nowhere'"):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR], source="nowhere")
        add_source(made.store, SourceSpec("fairs", Adapter.MANUAL))
        assert add_points(made.store, made.registry, "Morgan dollar", [FAIR]).source == "fairs"
        add_source(made.store, SourceSpec("friends", Adapter.MANUAL))
        with pytest.raises(UsageError, match="say which source the prices belong to: fairs, friends"):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR])
        done = add_points(made.store, made.registry, "Morgan dollar", [FAIR], source="friends")
        assert done.source == "friends"
        assert len(points(made.store, item)) == 2


def test_an_item_that_is_archived_or_unknown_takes_no_prices(world: OpenWorld) -> None:
    with world({}) as made:
        item = add_item(made.store)
        with pytest.raises(UnknownName, match="no item 'Peace dollar'"):
            add_points(made.store, made.registry, "Peace dollar", [FAIR])
        with made.store.write() as session:
            set_status(session, item, ItemStatus.ARCHIVED, 1)
        with pytest.raises(UsageError, match="is archived"):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR])


@pytest.mark.parametrize("number", [0, MAX_ROWS + 1])
def test_too_many_prices_at_once_are_refused(world: OpenWorld, number: int) -> None:
    with world({}) as made:
        add_item(made.store)
        with pytest.raises(UsageError, match="enter 1 to 10,000 prices"):
            add_points(made.store, made.registry, "Morgan dollar", [FAIR] * number)


def test_a_manual_source_is_planned_for_no_item(world: OpenWorld) -> None:
    with world({}) as made:
        add_item(made.store)
        with made.store.write() as session:
            save_price_source(session, SourceSpec("fairs", Adapter.MANUAL), Origin.PERSON, 1)
        add_item(made.store, item_spec("another"))
        assert rows(made.store, "select count(*) from price_collections") == [(0,)]

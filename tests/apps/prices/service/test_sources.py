"""Price sources as people see and change them: the health that the claim obeys, and limits that hold."""

from pathlib import Path

import pytest

from tests.apps.prices.people import MORGAN, URL, add_club, add_morgan, priced
from thresher.apps.prices.service.cache import set_cache
from thresher.apps.prices.service.items import show_item
from thresher.apps.prices.service.sources import (
    add_rule,
    add_source,
    change_source,
    list_views,
    remove_rule,
    retire_source,
    show_source,
    shut_sentence,
)
from thresher.core.clock import MINUTE, SECOND
from thresher.core.errors import UnknownName, UsageError
from thresher.core.gate import GateLimits
from thresher.store import sources as gates
from thresher.store.sources import find_gates
from thresher.testing.world import World

GATE = "source:prices.club"


def interval(world: World) -> int:
    with world.store.read() as session:
        return int(find_gates(session, name=GATE)[0]["interval_us"])


def test_a_source_is_shown_with_its_health(club: World) -> None:
    priced(club)
    found = show_source(club.store, "club")
    assert (found.state, found.enabled, found.failure_streak) == ("open", True, 0)
    assert (found.items, found.found, found.failing) == (1, 1, 0)
    assert found.last_success_at is not None
    assert show_source(club.store, "prices.club") == found
    assert list_views(club.store) == [found]


def test_a_paused_and_a_disabled_source_say_so_and_the_item_names_them(club: World) -> None:
    add_club(club)
    gates.pause(club.store, GATE, 5 * MINUTE, "429 Too Many Requests")
    found = show_source(club.store, "club")
    assert (found.state, found.enabled, found.why) == ("paused", True, "429 Too Many Requests")
    assert found.paused_until == club.clock.now() + 5 * MINUTE
    add_morgan(club)
    (waits,) = show_item(club.store, MORGAN).waits
    assert waits.startswith("club: source club is paused until 2023-11-14T")
    assert waits.endswith("429 Too Many Requests")
    gates.disable(club.store, GATE, "auth", "401 Unauthorized")
    found = show_source(club.store, "club")
    assert (found.state, found.enabled, found.paused_until) == ("disabled", False, None)
    (waits,) = show_item(club.store, MORGAN).waits
    assert waits == "club: source club is disabled: 401 Unauthorized; thresher sources enable prices.club"


def test_a_breaker_that_tripped_says_what_failed(club: World) -> None:
    add_club(club)
    for _ in range(5):
        gates.judge_source(club.store, GATE, "ServerError: 503")
    found = show_source(club.store, "club")
    assert (found.state, found.failure_streak) == ("tripped", 5)
    assert found.paused_until == club.clock.now() + 5 * MINUTE
    told = shut_sentence(found)
    assert told is not None
    assert told.startswith("source club rests until 2023-")
    assert "5 failures in a row" in told


def test_a_rate_is_obeyed_by_the_gate_and_a_rule_comes_before_it(club: World) -> None:
    add_club(club, rate_per_minute=30)
    assert interval(club) == 2 * SECOND
    change_source(club.store, club.registry, "club", {"rate_per_minute": 6})
    assert interval(club) == 10 * SECOND
    add_rule(club.store, club.registry, "club", {"kind": "rate_limit_override", "values": ["60"]})
    assert (interval(club), show_source(club.store, "club").rate_per_minute) == (SECOND, 60.0)
    remove_rule(club.store, club.registry, "club", 1)
    assert interval(club) == 10 * SECOND
    change_source(club.store, club.registry, "club", {"rate_per_minute": None})
    assert (interval(club), show_source(club.store, "club").rate_per_minute) == (0, None)


def test_slots_that_a_person_has_set_survive_a_new_rate(club: World) -> None:
    add_club(club)
    with club.store.read() as session:
        (row,) = find_gates(session, name=GATE)
    limits = GateLimits(max_in_flight=3, interval_us=row["interval_us"], trip_after=9, cooldown_us=MINUTE)
    gates.set_limits(club.store, GATE, limits)
    change_source(club.store, club.registry, "club", {"rate_per_minute": 6})
    with club.store.read() as session:
        (row,) = find_gates(session, name=GATE)
    assert (row["max_in_flight"], row["trip_after"], row["interval_us"]) == (3, 9, 10 * SECOND)


def test_what_is_not_named_stays(club: World) -> None:
    add_club(club, tier=3)
    found = change_source(
        club.store, club.registry, "club", {"reputation": 0.1}, options={"currency": "EUR"}
    ).source
    assert (found.tier, found.reputation) == (3, 0.1)
    assert found.options == {"url": URL, "currency": "EUR"}
    found = change_source(club.store, club.registry, "club", {}, options={"currency": None}).source
    assert found.options == {"url": URL}
    same = change_source(club.store, club.registry, "club", {"tier": 3})
    assert (same.changed, same.new) == (False, False)
    with pytest.raises(UsageError, match="one of url and file"):
        change_source(club.store, club.registry, "club", {}, options={"url": None})


def test_a_cache_time_that_is_said_of_a_source_replaces_the_one_that_was_set_while_it_ran(
    club: World,
) -> None:
    add_club(club, cache_seconds=600)
    set_cache(club.store, "club", 0)
    same = change_source(club.store, club.registry, "club", {"tier": 4})
    assert same.source.cache_seconds == 0, "nobody has said anything of the cache"
    found = change_source(club.store, club.registry, "club", {"cache_seconds": 60})
    assert (found.source.cache_seconds, found.changed) == (60, True)
    set_cache(club.store, "club", 0)
    found = change_source(club.store, club.registry, "club", {"cache_seconds": 60})
    assert (found.source.cache_seconds, found.changed) == (60, True)


def test_another_reputation_has_its_items_valued_again(club: World) -> None:
    item = priced(club)
    before = show_item(club.store, str(item)).item.value
    change_source(club.store, club.registry, "club", {"reputation": 0.1})
    club.advance(minutes=5)
    club.run_until_idle()
    after = show_item(club.store, str(item)).item.value
    assert before is not None
    assert after is not None
    assert before.confidence is not None
    assert after.confidence is not None
    assert after.confidence < before.confidence


def test_a_rule_that_is_not_there_cannot_be_removed(club: World) -> None:
    add_club(club)
    with pytest.raises(UsageError, match="has no rule 1; it has none"):
        remove_rule(club.store, club.registry, "club", 1)
    add_rule(club.store, club.registry, "club", {"kind": "exclude_keywords", "values": ["replica"]})
    with pytest.raises(UsageError, match="has no rule 2; it has 1"):
        remove_rule(club.store, club.registry, "club", 2)


def test_a_source_that_is_retired_is_asked_no_more_and_may_return(club: World) -> None:
    item = priced(club)
    found = retire_source(club.store, "club")
    assert (found.retired_at is not None, found.enabled) == (True, False)
    assert list_views(club.store) == []
    assert [each.name for each in list_views(club.store, retired=True)] == ["club"]
    assert [each["detail"]["name"] for each in club.events("price_source_retired")] == ["club"]
    detail = show_item(club.store, str(item))
    assert detail.item.value is not None, "what it has brought is kept"
    assert [each.waits for each in detail.collections] == ["the source is retired"]
    with pytest.raises(UsageError, match="club' is retired; thresher prices sources add brings it back"):
        change_source(club.store, club.registry, "club", {"tier": 1})
    again = add_source(club.store, club.registry, "club", {"adapter": "csv", "options": {"url": URL}})
    assert (again.new, again.changed, again.source.retired_at) == (False, True, None)


def test_missing_variables_are_named(club: World) -> None:
    add_source(club.store, club.registry, "ebay", {"adapter": "marketplace", "definition": "ebay"})
    found = show_source(club.store, "ebay", {"EBAY_CLIENT_ID": "x"})
    assert (found.needs, found.missing) == (("EBAY_CLIENT_ID", "EBAY_CLIENT_SECRET"), ("EBAY_CLIENT_SECRET",))
    told = shut_sentence(found)
    assert told == "source ebay needs EBAY_CLIENT_SECRET, which is not set here; set it where the workers run"
    assert show_source(club.store, "ebay", dict.fromkeys(found.needs, "x")).missing == ()


def test_a_name_that_is_not_there_says_where_to_look(club: World) -> None:
    for name in ("nobody", "", "a\x00"[:1], "x" * 5_000):
        with pytest.raises(UnknownName, match="thresher prices sources list shows them"):
            show_source(club.store, name)


def test_what_a_source_carries_is_not_shown(club: World, tmp_path: Path) -> None:
    add_source(club.store, club.registry, "list", {"adapter": "csv", "options": {"file": "a.csv"}}, tmp_path)
    assert show_source(club.store, "list").options == {"file": "a.csv"}

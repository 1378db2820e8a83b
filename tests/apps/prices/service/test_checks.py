"""Lines of the doctor: each trouble has one that names it and says what to do."""

import pytest

from tests.apps.prices.people import COIN, RATES, add_club, add_morgan, priced
from thresher.apps.prices.service.checks import (
    CHECKS,
    check_exchange_rates,
    check_price_collections,
    check_price_items,
    check_price_sources,
)
from thresher.apps.prices.service.rates import import_rates
from thresher.apps.prices.service.sources import add_source
from thresher.core.clock import MINUTE
from thresher.core.extension import CheckLevel
from thresher.store import sources as gates
from thresher.testing.world import World


def test_an_empty_project_is_told_how_to_begin(club: World) -> None:
    found = [each for check in CHECKS for each in check(club.store)]
    assert {each.verdict for each in found} == {CheckLevel.OK}
    assert {each.advice for each in found} >= {
        "thresher prices sources add --help",
        "thresher prices add --help",
    }


def test_a_project_that_works_is_told_so(club: World) -> None:
    priced(club)
    import_rates(club.store, RATES.encode(), "rates.csv", "EUR")
    found = [each for check in CHECKS for each in check(club.store)]
    assert {each.verdict for each in found} == {CheckLevel.OK}, found
    assert "1 item, 1 of them priced" in {each.found for each in found}


@pytest.mark.parametrize("state", ["paused", "disabled", "tripped"])
def test_a_source_that_cannot_be_asked_is_named(club: World, state: str) -> None:
    add_club(club)
    gate = "source:prices.club"
    if state == "paused":
        gates.pause(club.store, gate, 5 * MINUTE, "429")
    elif state == "disabled":
        gates.disable(club.store, gate, "auth", "401")
    else:
        for _ in range(5):
            gates.judge_source(club.store, gate, "503")
    (found,) = check_price_sources(club.store)
    assert found.verdict is CheckLevel.WARN
    assert "source club" in found.found
    wanted = "thresher sources enable prices.club" if state == "disabled" else "nothing: it opens then"
    assert found.advice == wanted


def test_missing_credentials_are_named_by_their_variables(
    club: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EBAY_CLIENT_ID", raising=False)
    monkeypatch.setenv("EBAY_CLIENT_SECRET", "x")
    add_source(club.store, club.registry, "ebay", {"adapter": "marketplace", "definition": "ebay"})
    (found,) = check_price_sources(club.store)
    assert (found.verdict, found.found) == (
        CheckLevel.WARN,
        "source ebay needs EBAY_CLIENT_ID, which this process does not have",
    )


def test_a_source_that_is_silent_for_a_week_is_named(club: World) -> None:
    priced(club)
    club.advance(days=8)
    (found,) = check_price_sources(club.store)
    assert found.found.startswith("source club has not worked for 8d")


def test_items_that_lack_attributes_or_are_found_nowhere_are_named(club: World) -> None:
    add_club(club)
    add_morgan(club, "Half", attributes={"year": "1921"})
    add_morgan(club, "Unknown", attributes={**COIN, "year": "1804"})
    club.run_until_idle()
    lacking, unfound = check_price_items(club.store)
    assert lacking.found == "1 item cannot be looked for: 'Half' lacks denomination"
    assert unfound.found == "no source has listings of Unknown"


def test_a_collection_that_proves_nothing_is_named_with_its_reason(club: World) -> None:
    add_club(club)
    club.web.add({"https://club.example/coins.csv": "a page of another kind"})
    add_morgan(club)
    club.run_until_idle()
    (found,) = check_price_collections(club.store)
    assert found.found.startswith("the last look for 1921-D Morgan at club proved nothing: ")


def test_missing_and_old_rates_are_named(club: World) -> None:
    priced(club)
    (missing,) = check_exchange_rates(club.store)
    assert missing.found == "there are no exchange rates for EUR, so such prices do not count"
    import_rates(club.store, RATES.encode(), "rates.csv", "EUR")
    (found,) = check_exchange_rates(club.store)
    assert found.verdict is CheckLevel.OK
    club.advance(days=60)
    (old,) = check_exchange_rates(club.store)
    assert (old.verdict, "2023-11-14" in old.found) == (CheckLevel.WARN, True)

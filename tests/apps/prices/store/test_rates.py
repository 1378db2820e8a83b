"""Exchange rates as they are stored: read again as they were, and only those that are needed."""

from datetime import date
from decimal import Decimal

from thresher.apps.prices.rates import DayRate
from thresher.apps.prices.store.rates import latest_base, rates_held, read_rates, save_rates
from thresher.store.store import Store

DAY, NEXT = date(2026, 11, 12), date(2026, 11, 13)
RATES = [
    DayRate(DAY, "USD", Decimal("1.08")),
    DayRate(NEXT, "USD", Decimal("1.10")),
    DayRate(NEXT, "JPY", Decimal("160.5")),
]


def test_rates_are_read_as_they_were_saved(store: Store) -> None:
    dialect = store.backend.dialect
    with store.write() as session:
        assert read_rates(session).convert(100, "EUR", "USD", NEXT) is None
        assert save_rates(dialect, session, "EUR", RATES) == 3
        held = read_rates(session)
        assert held.base == latest_base(session) == "EUR"
        assert [held.convert(10_000, "EUR", "USD", day) for day in (DAY, NEXT)] == [10_800, 11_000]
        assert rates_held(session) == [
            ("EUR", "JPY", "2026-11-13", "2026-11-13", 1),
            ("EUR", "USD", "2026-11-12", "2026-11-13", 2),
        ]


def test_a_file_that_is_read_again_changes_nothing_and_a_corrected_one_only_what_it_corrects(
    store: Store,
) -> None:
    dialect = store.backend.dialect
    with store.write() as session:
        save_rates(dialect, session, "EUR", RATES)
        assert save_rates(dialect, session, "EUR", [DayRate(DAY, "USD", Decimal("1.080")), *RATES[1:]]) == 0
        assert save_rates(dialect, session, "EUR", [DayRate(DAY, "USD", Decimal("1.09")), *RATES[1:]]) == 1
        assert read_rates(session, "EUR").convert(10_000, "EUR", "USD", DAY) == 10_900


def test_only_the_rates_of_the_currencies_and_days_that_are_asked_for_are_read(store: Store) -> None:
    dialect = store.backend.dialect
    with store.write() as session:
        save_rates(dialect, session, "EUR", RATES)
        for currencies in (["JPY", "EUR"], ["JPY", "PLN", "EUR"]):
            some = read_rates(session, "EUR", dialect=dialect, currencies=currencies)
            assert set(some.by_currency) == {"JPY"}
        recent = read_rates(session, "EUR", since=NEXT, max_age=0)
        assert recent.by_currency["USD"].days == (NEXT,)
        reaching_back = read_rates(session, "EUR", since=NEXT, max_age=1)
        assert reaching_back.by_currency["USD"].days == (DAY, NEXT)


def test_the_base_is_that_with_the_latest_rates(store: Store) -> None:
    dialect = store.backend.dialect
    with store.write() as session:
        save_rates(dialect, session, "EUR", RATES[:1])
        save_rates(dialect, session, "USD", [DayRate(NEXT, "EUR", Decimal("0.9"))])
        assert read_rates(session).base == "USD"
        assert read_rates(session, "EUR").base == "EUR"

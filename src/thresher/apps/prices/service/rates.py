"""Exchange rates: import them from a file that somebody supplies, and show what there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from thresher.admin.file_rows import decoded
from thresher.apps.prices.amounts import checked_currency
from thresher.apps.prices.rates import DayRate, read_rates_file
from thresher.apps.prices.store.rates import rates_held, save_rates
from thresher.apps.prices.store.revaluing import revalue_foreign
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_FILE = 50_000_000  # bytes


@dataclass(frozen=True, slots=True)
class RatesView:
    """What is known of one currency against a base."""

    base: str
    currency: str
    first: date
    last: date
    count: int


@dataclass(frozen=True, slots=True)
class RatesImported:
    """What an import came to. `revalued` items have prices in other currencies, and are valued again."""

    base: str
    rates: int
    changed: int
    revalued: int
    currencies: int
    first: date | None
    last: date | None


def import_rates(store: Store, body: bytes, file: str, base: str) -> RatesImported:
    """Import the rates of a file, all or none: 1 of the base was worth so many of the currency on that day.
    Raises UsageError with the line of a mistake.
    """
    code = checked_currency(base)
    return import_rates_text(store, decoded(body, file), file, code)


def import_rates_text(store: Store, text: str, file: str, base: str) -> RatesImported:
    """The same for a text."""
    code = checked_currency(base)
    rates = read_rates_file(text, file, code)
    changed, revalued = in_transaction(
        store, lambda session: save_and_revalue(session, code, rates, store.backend.now(session))
    )
    days = [each.day for each in rates]
    currencies = len({each.currency for each in rates})
    return RatesImported(
        code, len(rates), changed, revalued, currencies, min(days, default=None), max(days, default=None)
    )


def save_and_revalue(session: Session, base: str, rates: Sequence[DayRate], now: int) -> tuple[int, int]:
    """Write rates, and have those items valued again that need them: how many rates are new or changed, and
    how many items.
    """
    changed = save_rates(session.dialect, session, base, rates)
    return changed, revalue_foreign(session, now) if changed else 0


def list_rates(store: Store) -> list[RatesView]:
    """What is known of each currency."""
    with store.read() as session:
        return [
            RatesView(base, currency, date.fromisoformat(first), date.fromisoformat(last), count)
            for base, currency, first, last, count in rates_held(session)
        ]

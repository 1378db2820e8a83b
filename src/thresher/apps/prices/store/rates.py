"""`exchange_rates`: the rates of days that the user supplied."""

from collections.abc import Collection, Sequence
from datetime import date, timedelta
from decimal import Decimal

from thresher.apps.prices.rates import DEFAULT_MAX_AGE, DayRate, Rates
from thresher.store.bulk import among, insert_rows
from thresher.store.session import Dialect, Session, one

FIRST_DAY = date(1900, 1, 1)
LAST_DAY = date(9999, 12, 31)

_COLUMNS = (("base", ":base"), ("currency", "text"), ("day", "text"), ("rate", "text"))
# A file that is read again changes nothing: rows that are there with the same rate are not written.
_THEN = """on conflict (base, currency, day) do update set rate = excluded.rate
    where exchange_rates.rate <> excluded.rate"""
_SELECT = """select currency, day, rate from exchange_rates
    where base = :base and day >= :since and day <= :until order by currency, day"""
_SELECT_SOME = """select currency, day, rate from exchange_rates
    where base = :base and currency {keys} and day >= :since and day <= :until"""
_LATEST_BASE = (
    "select base from exchange_rates group by base order by max(day) desc, count(*) desc, base limit 1"
)
_SUMMARY = """select base, currency, min(day), max(day), count(*) from exchange_rates
    group by base, currency order by base, currency"""


def save_rates(dialect: Dialect, session: Session, base: str, rates: Sequence[DayRate]) -> int:
    """Write rates against a base; how many are new or changed."""
    rows = [(each.currency, each.day.isoformat(), _written(each.rate)) for each in rates]
    return insert_rows(dialect, session, "exchange_rates", _COLUMNS, rows, _THEN, base=base)


def _written(rate: Decimal) -> str:
    """A rate in plain digits, so that 1.0 and 1.00 are one."""
    text = f"{rate:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_rates(
    session: Session,
    base: str | None = None,
    *,
    dialect: Dialect | None = None,
    currencies: Collection[str] = (),
    since: date = FIRST_DAY,
    until: date = LAST_DAY,
    max_age: int = DEFAULT_MAX_AGE,
) -> Rates:
    """The rates against a base, without one against that with the latest rates. With `currencies` and a
    dialect only theirs; `since` and `until` are the days of the amounts that are converted.
    """
    base = base or latest_base(session)
    if base is None:
        return Rates("EUR", {}, max_age)
    days = {"since": _before(since, max_age).isoformat(), "until": until.isoformat()}
    if currencies and dialect is not None:
        rows = among(dialect, session, _SELECT_SOME, sorted(set(currencies) - {base}), base=base, **days)
    else:
        rows = session.rows(_SELECT, {"base": base, **days})
    found = [DayRate(date.fromisoformat(day), currency, Decimal(rate)) for currency, day, rate in rows]
    return Rates.of(base, found, max_age)


def _before(day: date, days: int) -> date:
    return day - timedelta(days=days) if (day - FIRST_DAY).days > days else FIRST_DAY


def latest_base(session: Session) -> str | None:
    """The base whose rates are the latest; None where there are none."""
    row = one(session, _LATEST_BASE, {})
    return None if row is None else str(row[0])


def rates_held(session: Session) -> list[tuple[str, str, str, str, int]]:
    """What there is: base, currency, first and last day, number of rates."""
    return [
        (base, currency, first, last, count)
        for base, currency, first, last, count in session.rows(_SUMMARY, {})
    ]

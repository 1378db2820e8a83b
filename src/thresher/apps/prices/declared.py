"""The key `prices` of `thresher.yaml`: the items, sources, rates and alerts that a project keeps.

    prices:
      rates: {file: rates.csv, base: EUR}
      sources:
        club: {adapter: csv, options: {file: club.csv}, tier: 3}
      items:
        1921-D Morgan:
          kind: coin
          attributes: {denomination: dollar, year: 1921}
          alerts: {below: 40, change: 10%}

What is no longer there is archived, or retired: it is not looked for any more, and what is known of it is
kept. Nothing is written where nothing has changed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thresher.admin.file_rows import decoded
from thresher.apps.prices.alerting import AlertKind
from thresher.apps.prices.amounts import checked_currency, minor_of, share_of
from thresher.apps.prices.app import app
from thresher.apps.prices.item_file import KEYS as ITEM_KEYS
from thresher.apps.prices.item_file import MAX_ITEMS, ItemWish, item_of
from thresher.apps.prices.model import Item, ItemStatus, Origin, PriceSource, SourceSpec
from thresher.apps.prices.rates import DayRate, read_rates_file
from thresher.apps.prices.refresh import REFRESH
from thresher.apps.prices.service.items import is_other, save_wish
from thresher.apps.prices.service.rates import MAX_FILE, save_and_revalue
from thresher.apps.prices.service.sources import REFRESH_KEY, apply_limits
from thresher.apps.prices.source_file import source_of
from thresher.apps.prices.store.declared import (
    DeclaredAlert,
    declared_alerts,
    file_items,
    items_named,
    option,
    save_file_alerts,
    save_option,
)
from thresher.apps.prices.store.items import set_status
from thresher.apps.prices.store.revaluing import revalue_source
from thresher.apps.prices.store.sources import list_price_sources, retire_price_source, save_price_source
from thresher.core.errors import UsageError
from thresher.core.extension import Declaration
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.reading.structured.checked_yaml import Mistake, mapping_of, shown, written, wrong
from thresher.reading.structured.checked_yaml import Path as KeyPath
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.store import Store

SECTION = "prices"
KEYS = ("items", "sources", "rates")
ALERTS = "alerts"
RATES_KEYS = ("file", "base")
RATES = "rates"  # the option that remembers which rates were read
BASE = "EUR"
GONE = "it is no longer in the project file"


@dataclass(frozen=True, slots=True)
class DeclaredRates:
    """The file of rates, read. `digest` says whether it is the one that was read before."""

    file: str
    base: str
    text: str
    digest: str

    def rates(self) -> list[DayRate]:
        """The rates that it has. Raises UsageError with the line of a mistake."""
        return read_rates_file(self.text, self.file, self.base)


@dataclass(frozen=True, slots=True)
class DeclaredPrices:
    """What a project declares, checked. `alerts` are those of each item."""

    items: Mapping[str, ItemWish] = field(default_factory=dict)
    alerts: Mapping[str, frozenset[DeclaredAlert]] = field(default_factory=dict)
    sources: Mapping[str, SourceSpec] = field(default_factory=dict)
    rates: DeclaredRates | None = None


@dataclass(frozen=True, slots=True)
class _Difference:
    """What of the database is other than the project says."""

    items: Mapping[str, Item | None]  # as they are; None: not there
    alerts: tuple[str, ...]  # items whose alerts are other
    archived: tuple[Item, ...]
    sources: Mapping[str, PriceSource | None]
    retired: tuple[PriceSource, ...]
    rates: bool

    @property
    def is_nothing(self) -> bool:
        return not (self.items or self.alerts or self.archived or self.sources or self.retired or self.rates)


def declare(store: Store, declaration: Declaration) -> None:
    """See to it that the database says what the project says."""
    declared = read_declared(declaration)
    with store.read() as session:
        if _difference(session, declared).is_nothing:
            return
    try:
        changed = _save(store, declared)
    except UsageError as problem:
        raise declaration.error(f"{SECTION}.{RATES}", str(problem)) from None
    for name in changed:
        apply_limits(store, name)


# Reading


def read_declared(declaration: Declaration) -> DeclaredPrices:
    """What a project declares. Raises ConfigError that names file, line and key."""
    try:
        said = mapping_of({} if declaration.said is None else declaration.said, KEYS, (SECTION,))
        sources = _sources(said.get("sources"), declaration.folder)
        items, alerts = _items(said.get("items"), sources)
        return DeclaredPrices(items, alerts, sources, _rates(said.get(RATES), declaration.folder))
    except Mistake as mistake:
        raise declaration.error(written(mistake.path), mistake.advice) from None


def _items(
    said: Any, sources: Mapping[str, SourceSpec]
) -> tuple[dict[str, ItemWish], dict[str, frozenset[DeclaredAlert]]]:
    del sources
    path = (SECTION, "items")
    items: dict[str, ItemWish] = {}
    alerts: dict[str, frozenset[DeclaredAlert]] = {}
    for name, each in _named(said, path, "items").items():
        place = (*path, str(name))
        whole = mapping_of({} if each is None else each, (*ITEM_KEYS, ALERTS), place)
        wish = item_of(name, {key: value for key, value in whole.items() if key != ALERTS}, place)
        if wish.spec.name in items:
            wrong(place, f"{wish.spec.name!r} is declared twice; remove one of them")
        items[wish.spec.name] = wish
        alerts[wish.spec.name] = _alerts(whole.get(ALERTS), wish.spec.currency, (*place, ALERTS))
    return items, alerts


def _alerts(said: Any, currency: str, path: KeyPath) -> frozenset[DeclaredAlert]:
    found = set()
    for name, value in mapping_of({} if said is None else said, tuple(AlertKind), path).items():
        place, kind = (*path, name), AlertKind(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            wrong(place, f"{shown(value)} is wrong; write an amount such as 40.50, or for change 10%")
        try:
            limit = share_of(str(value)) if kind is AlertKind.CHANGE else minor_of(str(value), currency)
        except UsageError as problem:
            wrong(place, str(problem))
        found.add((kind, limit))
    return frozenset(found)


def _sources(said: Any, folder: Path) -> dict[str, SourceSpec]:
    path = (SECTION, "sources")
    named = _named(said, path, "sources")
    return {str(name): source_of(name, each, folder, (*path, str(name))) for name, each in named.items()}


def _named(said: Any, path: KeyPath, what: str) -> dict[Any, Any]:
    if said is None:
        return {}
    if not isinstance(said, dict):
        wrong(path, f"must map names to {what}, got {shown(said)}")
    if len(said) > MAX_ITEMS:
        wrong(path, f"has {len(said):,} {what}; the limit is {MAX_ITEMS:,}: thresher prices import FILE.csv")
    return said


def _rates(said: Any, folder: Path) -> DeclaredRates | None:
    path = (SECTION, RATES)
    if said is None:
        return None
    told = {"file": said} if isinstance(said, str) else mapping_of(said, RATES_KEYS, path)
    name = told.get("file")
    if not isinstance(name, str) or not name:
        wrong((*path, "file"), "must name a CSV file, such as rates.csv")
    try:
        base = checked_currency(str(told.get("base", BASE)))
    except UsageError as problem:
        wrong((*path, "base"), str(problem))
    body = _body(folder, name, (*path, "file") if isinstance(said, dict) else path)
    digest = hashlib.sha256(base.encode() + body).hexdigest()
    try:
        return DeclaredRates(name, base, decoded(body, name), digest)
    except UsageError as problem:
        wrong(path, str(problem))


def _body(folder: Path, name: str, path: KeyPath) -> bytes:
    home = folder.resolve()
    file = (home / name).resolve()
    if not file.is_relative_to(home):
        wrong(path, f"{shown(name)} is not inside the project's folder")
    try:
        with file.open("rb") as source:
            body = source.read(MAX_FILE + 1)
    except (OSError, ValueError) as problem:
        wrong(path, f"{name} cannot be read: {getattr(problem, 'strerror', None) or problem}")
    if len(body) > MAX_FILE:
        wrong(path, f"{name} has more than {MAX_FILE:,} bytes; split it")
    return body


# Saving


def _difference(session: Session, declared: DeclaredPrices) -> _Difference:
    known = items_named(session, list(declared.items))
    items = {
        name: known.get(name) for name, wish in declared.items.items() if _is_changed(known.get(name), wish)
    }
    stored = declared_alerts(session)
    alerts = tuple(
        name
        for name, wanted in declared.alerts.items()
        if wanted != stored.get(name, frozenset()) and (wanted or name in known)
    )
    sources = {each.name: each for each in list_price_sources(session, retired=True)}
    changed = {
        name: sources.get(name)
        for name, spec in declared.sources.items()
        if _is_other_source(sources.get(name), spec)
    }
    return _Difference(
        items,
        alerts,
        tuple(each for each in file_items(session) if each.is_live and each.name not in declared.items),
        changed,
        tuple(
            each
            for each in sources.values()
            if each.origin is Origin.FILE and not each.retired_at and each.name not in declared.sources
        ),
        declared.rates is not None and option(session, RATES) != declared.rates.digest,
    )


def _is_changed(known: Item | None, wish: ItemWish) -> bool:
    return (
        is_other(known, wish) or known is None or (known.refresh, known.origin) != (wish.refresh, Origin.FILE)
    )


def _is_other_source(known: PriceSource | None, spec: SourceSpec) -> bool:
    return known is None or known.spec != spec or known.origin is not Origin.FILE or known.retired_at > 0


def _save(store: Store, declared: DeclaredPrices) -> list[str]:
    """Write what differs; the sources whose limits may be other."""
    with store.transaction() as transaction:
        session = transaction.session
        now = store.backend.now(session)
        found = _difference(session, declared)  # another process may have started just now
        _save_sources(session, declared, found, now)
        for name, known in found.items.items():
            save_wish(session, known, declared.items[name], Origin.FILE, now)
        for item in found.archived:
            set_status(session, item.id, ItemStatus.ARCHIVED, now)
            record_event(session, "price_item_archived", now, item=item.id, name=item.name, reason=GONE)
        if found.alerts:
            ids = items_named(session, found.alerts)
            for name in found.alerts:
                save_file_alerts(session, ids[name].id, declared.alerts[name], now)
        if found.rates and declared.rates is not None:
            save_and_revalue(session, declared.rates.base, declared.rates.rates(), now)
            save_option(session, RATES, declared.rates.digest, now)
        if found.items or found.sources:
            entry = Registry([app], store.settings).admit(NewTask(REFRESH, key=REFRESH_KEY))
            transaction.enqueue([entry])
    return list(found.sources)


def _save_sources(session: Session, declared: DeclaredPrices, found: _Difference, now: int) -> None:
    for name, known in found.sources.items():
        spec = declared.sources[name]
        source = save_price_source(session, spec, Origin.FILE, now)
        if known is not None and known.spec.reputation != spec.reputation:
            revalue_source(session, source, now)
    for each in found.retired:
        if retire_price_source(session, each.id, now):
            record_event(session, "price_source_retired", now, source=each.id, name=each.name, reason=GONE)

"""Price sources: list them with their health, add, change and retire them, and set their rules and limits."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from thresher.apps.prices.adapters.catalogue import variables_of
from thresher.apps.prices.model import Origin, PriceSource, RuleKind, SourceSpec
from thresher.apps.prices.refresh import REFRESH
from thresher.apps.prices.source_file import HIDDEN, checked_source_of
from thresher.apps.prices.store.overview import SourceFigures, count_due, figures_by_source
from thresher.apps.prices.store.revaluing import revalue_source
from thresher.apps.prices.store.sources import (
    MAX_SOURCES,
    find_price_source,
    limits_of,
    list_price_sources,
    retire_price_source,
    save_price_source,
    set_cache_seconds,
)
from thresher.core.clock import FOREVER, MINUTE, as_text
from thresher.core.errors import UnknownName, UsageError
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.sources import as_gate, find_gates, set_limits
from thresher.store.store import Store, Transaction
from thresher.store.transaction import in_transaction

OPEN = "open"
SHUT = ("disabled", "paused", "tripped")  # closed by a person, by the source, or by trouble
NONE = SourceFigures()
REFRESH_KEY = "refresh"

Said = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule of a source."""

    kind: str
    values: tuple[str, ...]
    priority: int
    active: bool


@dataclass(frozen=True, slots=True)
class SourceView:
    """A price source as people see it: what it is worth, how it is asked, and how it is.

    `state` is open, paused, disabled, tripped (its breaker), full or rate (its limits are used up for the
    moment); `why` is the sentence behind it. `gate` is what `thresher sources` calls it. `missing` are the
    variables that it needs and this process does not have. `items` were looked for here, `found` of them with
    listings, and the last look for `failing` failed.
    """

    id: int
    name: str
    adapter: str
    definition: str | None
    options: Mapping[str, Any]
    tier: int
    reputation: float
    rate_per_minute: float | None
    cache_seconds: int | None
    rules: tuple[RuleView, ...]
    gate: str
    enabled: bool
    state: str
    why: str | None
    paused_until: int | None
    failure_streak: int
    last_success_at: int | None
    last_failure_at: int | None
    last_error: str | None
    needs: tuple[str, ...]
    missing: tuple[str, ...]
    items: int
    found: int
    failing: int
    declared_in: str
    created_at: int
    retired_at: int | None

    @property
    def is_shut(self) -> bool:
        return self.state in SHUT


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """What became of a source that somebody added or changed. `items` are looked for there now."""

    source: SourceView
    new: bool
    changed: bool
    items: int


# Look


def list_views(
    store: Store,
    *,
    retired: bool = False,
    after: str | None = None,
    limit: int = MAX_SOURCES,
    environ: Mapping[str, str] = os.environ,
) -> list[SourceView]:
    """Price sources by name, after a name if one is given; with `retired` those no longer used too."""
    with store.read() as session:
        figures, now = figures_by_source(session), store.backend.now(session)
        found = list_price_sources(session, retired=retired, after=after or "", limit=limit)
        return [source_view(session, each, figures.get(each.id, NONE), now, environ) for each in found]


def show_source(store: Store, name: str, environ: Mapping[str, str] = os.environ) -> SourceView:
    """One price source."""
    with store.read() as session:
        found = source_named(session, name)
        figures = figures_by_source(session).get(found.id, NONE)
        return source_view(session, found, figures, store.backend.now(session), environ)


def source_named(session: Session, name: str) -> PriceSource:
    """The source of this name, with or without `prices.` before it. Raises UnknownName."""
    found = find_price_source(session, name) or find_price_source(session, name.removeprefix("prices."))
    if found is None:
        raise UnknownName(f"there is no price source {name[:80]!r}; thresher prices sources list shows them")
    return found


def source_view(
    session: Session, source: PriceSource, figures: SourceFigures, now: int, environ: Mapping[str, str]
) -> SourceView:
    """A source with what its gate says of it."""
    spec = source.spec
    (row,) = find_gates(session, name=source.gate)
    gate = as_gate(row)
    state = gate.why_closed(now) or OPEN
    until = gate.opens_at(now) if state in SHUT else None
    needs = variables_of(spec)
    return SourceView(
        source.id,
        source.name,
        spec.adapter.value,
        spec.definition,
        said_of(spec)["options"],
        spec.tier,
        spec.reputation,
        round(MINUTE / gate.interval_us, 2) if gate.interval_us else None,
        spec.cache_seconds if source.cache_seconds is None else source.cache_seconds,
        tuple(RuleView(each.kind.value, each.values, each.priority, each.active) for each in spec.rules),
        source.gate.removeprefix("source:"),
        state != "disabled" and not source.retired_at,
        state,
        _why(state, row),
        until if until is not None and until < FOREVER else None,
        gate.failures,
        row["last_success"] or None,
        row["last_failure"] or None,
        row["last_error"],
        needs,
        tuple(each for each in needs if not environ.get(each)),
        figures.items,
        figures.found,
        figures.failing,
        source.origin.value,
        source.created_at,
        source.retired_at or None,
    )


def _why(state: str, row: Mapping[str, Any]) -> str | None:
    match state:
        case "disabled" | "paused":
            return row["closed_reason"] or None
        case "tripped":
            return f"{row['failures']} failures in a row, the last: {row['last_error'] or 'unknown'}"
        case "full":
            return f"{row['in_flight']} of {row['max_in_flight']} in flight"
        case "rate":
            return "its rate is used up for the moment"
        case _:
            return None


def shut_sentence(view: SourceView) -> str | None:
    """Why nothing can be asked there now, or may not be, and what to do; None where something can."""
    match view.state:
        case "disabled":
            return f"source {view.name} is disabled: {view.why or 'no reason was given'}; thresher sources enable {view.gate}"
        case "paused":
            until = f" until {as_text(view.paused_until)}" if view.paused_until else ""
            return f"source {view.name} is paused{until}: {view.why or 'no reason was given'}"
        case "tripped":
            until = f" until {as_text(view.paused_until)}" if view.paused_until else ""
            return f"source {view.name} rests{until}: {view.why}"
        case _ if view.missing:
            needs = ", ".join(view.missing)
            return f"source {view.name} needs {needs}, which is not set here; set it where the workers run"
        case _:
            return None


# Change


def add_source(
    store: Store, registry: Registry, name: str, said: Mapping[str, Any], folder: Path | None = None
) -> SourceChanged:
    """Add a source, or have one that is known be as it is said now. Its files and its definition may lie in
    the project's `folder`; without one they cannot. Raises UsageError that names what is wrong.
    """
    spec = checked_source_of(name, said, folder)
    with store.transaction() as transaction:
        done = _save(store, transaction, registry, spec)
    return _after(store, spec.name, *done)


def change_source(
    store: Store,
    registry: Registry,
    name: str,
    said: Mapping[str, Any],
    *,
    options: Mapping[str, Any] = {},
    folder: Path | None = None,
) -> SourceChanged:
    """Change what is said of a source; what is not named stays. `options` are changed one by one; None takes
    one away. A time for its cache takes the place of the one that was set while it ran.
    """

    def changed(old: Said) -> Said:
        both = {**old, **said}
        merged = {**both["options"], **options} if options else both["options"]
        if not isinstance(merged, dict):
            return both
        return {**both, "options": {name: value for name, value in merged.items() if value is not None}}

    return _changed(store, registry, name, changed, folder, has_cache="cache_seconds" in said)


def add_rule(store: Store, registry: Registry, name: str, rule: Mapping[str, Any]) -> SourceChanged:
    """Give a source one more rule."""
    return _changed(store, registry, name, lambda old: {**old, "rules": [*old["rules"], dict(rule)]})


def remove_rule(store: Store, registry: Registry, name: str, number: int) -> SourceChanged:
    """Take a rule away, by its number in the list from 1."""

    def without(old: Said) -> Said:
        rules = old["rules"]
        if not 1 <= number <= len(rules):
            has = f"it has {len(rules)}" if rules else "it has none"
            raise UsageError(
                f"source {name!r} has no rule {number}; {has}: thresher prices sources show {name}"
            )
        return {**old, "rules": [*rules[: number - 1], *rules[number:]]}

    return _changed(store, registry, name, without)


def _changed(
    store: Store,
    registry: Registry,
    name: str,
    change: Callable[[Said], Said],
    folder: Path | None = None,
    *,
    has_cache: bool = False,
) -> SourceChanged:
    with store.transaction() as transaction:
        known = source_named(transaction.session, name)
        if known.retired_at:
            raise UsageError(f"source {known.name!r} is retired; thresher prices sources add brings it back")
        spec = checked_source_of(known.name, change(said_of(known.spec)), folder, known.spec)
        new, changed, items = _save(store, transaction, registry, spec)
        if has_cache and known.cache_seconds is not None:
            set_cache_seconds(transaction.session, known.id, None)
            changed = True
    return _after(store, known.name, new, changed, items)


def _save(
    store: Store, transaction: Transaction, registry: Registry, spec: SourceSpec
) -> tuple[bool, bool, int]:
    """Whether it is new, whether it was changed, and how many items are looked for there now."""
    session = transaction.session
    known = find_price_source(session, spec.name)
    if known is not None and known.origin is Origin.FILE and not known.retired_at:
        if known.spec == spec:
            return False, False, 0
        raise UsageError(
            f"the project file declares the source {spec.name!r}; change it there: prices.sources.{spec.name}"
        )
    if known is not None and known.spec == spec and not known.retired_at:
        return False, False, 0
    now = store.backend.now(session)
    source = save_price_source(session, spec, Origin.PERSON, now)
    if known is not None and known.spec.reputation != spec.reputation:
        revalue_source(session, source, now)
    is_asked_anew = known is None or known.retired_at > 0 or known.spec != spec
    waiting = count_due(session, source, now) if is_asked_anew else 0
    if waiting:
        transaction.enqueue([registry.admit(NewTask(REFRESH, key=REFRESH_KEY))])
    return known is None, True, waiting


def _after(store: Store, name: str, new: bool, changed: bool, items: int) -> SourceChanged:
    if changed:
        apply_limits(store, name)
    return SourceChanged(show_source(store, name), new, changed, items)


def apply_limits(store: Store, name: str) -> None:
    """Give the gate of a source the rate that its spec and its rules say. What a person has set besides, such
    as slots and the breaker, stays.
    """
    with store.read() as session:
        source = source_named(session, name)
        (row,) = find_gates(session, name=source.gate)
    gate = as_gate(row)
    wanted = limits_of(source.spec)
    if gate.interval_us == wanted.interval_us:
        return
    kept = {each: row[each] for each in asdict(wanted)}
    set_limits(store, source.gate, type(wanted)(**{**kept, "interval_us": wanted.interval_us}))


def retire_source(store: Store, name: str) -> SourceView:
    """Ask a source no more. What it has brought is kept."""

    def work(session: Session) -> str:
        known = source_named(session, name)
        if known.origin is Origin.FILE and not known.retired_at:
            raise UsageError(
                f"the project file declares the source {known.name!r}; remove it there: prices.sources"
            )
        now = store.backend.now(session)
        if retire_price_source(session, known.id, now):
            why = "a person removed it"
            record_event(session, "price_source_retired", now, source=known.id, name=known.name, reason=why)
        return known.name

    return show_source(store, in_transaction(store, work))


def said_of(spec: SourceSpec) -> Said:
    """A spec as somebody would say it."""
    rules = [
        {
            "kind": each.kind.value,
            "values": list(each.values),
            "priority": each.priority,
            "active": each.active,
        }
        for each in spec.rules
    ]
    return {
        "adapter": spec.adapter.value,
        "definition": spec.definition,
        "options": {name: value for name, value in spec.options.items() if name not in HIDDEN},
        "tier": spec.tier,
        "reputation": spec.reputation,
        "rate_per_minute": spec.rate_per_minute,
        "cache_seconds": spec.cache_seconds,
        "rules": rules,
    }


RULE_WORDS: Mapping[RuleKind, str] = {
    RuleKind.EXCLUDE_KEYWORDS: "listings with one of these words do not count",
    RuleKind.REQUIRE_KEYWORDS: "only listings with all of these words count",
    RuleKind.ALLOWED_PATH: "only listings whose address begins so count",
    RuleKind.RATE_LIMIT_OVERRIDE: "requests a minute, in place of its usual rate",
}

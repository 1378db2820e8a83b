"""The background loops, all of one shape: how often, and what one round does. Any number of machines may run
them all.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial

from thresher.core.clock import DAY, SECOND
from thresher.core.decide import last_words
from thresher.core.errors import DatabaseProblem
from thresher.core.log_context import set_log_context
from thresher.engine.calendar import due_firings, moved_forward
from thresher.engine.registry import Registry
from thresher.engine.webhooks import forward_events
from thresher.store import budgets, vectors
from thresher.store.last_words import say_last_words
from thresher.store.ledger import assume
from thresher.store.pages import prune_pages
from thresher.store.permits import sweep
from thresher.store.prune import prune, prune_hosts
from thresher.store.repair import repair, repair_active
from thresher.store.schedules import Plan, fire, plans_ahead, read_plans, shift_plan
from thresher.store.settings import refresh_settings
from thresher.store.store import Store
from thresher.store.workers import begin_round, reap

log = logging.getLogger("thresher.chores")

# A worker comes back after four to six fifths of a chore's time; a round that all share has to be due by
# then.
SOON = 0.75


@dataclass(frozen=True, slots=True)
class Chore:
    """`every` is the setting with its rhythm; `once` does one round and returns what it did, or nothing."""

    name: str
    every: str
    once: Callable[[Store], str | None]


def reap_lost(store: Store) -> str | None:
    """Tasks of lost workers go back to waiting."""
    number = reap(store, store.settings.count("reaper.batch"))
    return f"{number} tasks of lost workers went back to waiting" if number else None


def sweep_permits(store: Store) -> str | None:
    """Release permits that no one else will."""
    number = sweep(store, store.settings.count("reaper.batch"))
    return f"{number} permits of finished requests were released" if number else None


def assume_spent(store: Store) -> str | None:
    """Count reservations as spent that will never be settled."""
    number = assume(store, store.settings.count("reaper.batch"))
    return f"{number} model calls never reported their cost; the maximum is counted" if number else None


def repair_counters(store: Store) -> str | None:
    """Counters that drifted are set right: where something goes on often, everywhere now and then, by one
    worker for all.
    """
    if begin_round(store, "repair everything", store.settings.us("repair.full_every")):
        found = repair(store)
    elif begin_round(store, "repair", round(store.settings.us("repair.every") * SOON)):
        found = repair_active(store)
    else:
        return None
    found += budgets.repair(store)
    return f"repaired: {'; '.join(found)}" if found else None


def prune_history(store: Store) -> str | None:
    """Lineages that ended long ago are removed."""
    number = prune(store)
    return f"{number} old tasks removed" if number else None


def prune_idle_hosts(store: Store) -> str | None:
    """Remove lanes and gates of hosts that have not been needed for long."""
    removed = prune_hosts(store)
    return f"{removed.lanes} idle lanes and {removed.gates} idle hosts removed" if removed.lanes else None


def prune_vectors(store: Store) -> str | None:
    """Remove vectors that have not been used for long."""
    number = vectors.prune(store)
    return f"{number} unused vectors removed" if number else None


def prune_kept(store: Store) -> str | None:
    """Remove pages that expired long ago, with bodies that are not needed elsewhere."""
    removed = prune_pages(store, round(store.settings["fetch.keep_pages"] * DAY))
    return f"{removed.pages} old pages and {removed.bodies} bodies removed" if any(removed) else None


def prune_ledger(store: Store) -> str | None:
    """What calls of models cost long ago is forgotten."""
    number = budgets.prune(store)
    return f"{number} old model calls removed from the ledger" if number else None


def fire_schedules(store: Store) -> str | None:
    """Enqueue the tasks of schedules that are due. Only for the apps of this process: other workers fire the
    others.
    """
    with store.read() as session:
        now = store.backend.now(session)
        plans = [
            plan for plan in read_plans(session, due_at=now) if store.apps is None or plan.app in store.apps
        ]
        ahead = plans_ahead(session, now)
    _follow_clock(store, ahead, now)
    fired = []
    for plan in plans:
        try:
            if _fire(store, plan, now):
                fired.append(plan.name)
        except DatabaseProblem:
            raise
        except Exception:  # one schedule that cannot be fired must not hold up the others
            log.exception("schedule %s cannot be fired", plan.name)
    return f"fired: {', '.join(fired)}" if fired else None


def _follow_clock(store: Store, plans: list[Plan], now: int) -> None:
    """A clock that was set back must not keep schedules silent until it has caught up."""
    for plan in plans:
        next_at = moved_forward(
            plan.next_at or now,
            plan.last_at,
            now,
            cron=plan.cron,
            every_us=plan.every_us,
            timezone=plan.timezone,
        )
        if next_at is not None and shift_plan(store, plan, next_at):
            log.warning(
                "the clock was set back: schedule %s fires next in %d s", plan.name, (next_at - now) // SECOND
            )


def _fire(store: Store, plan: Plan, now: int) -> bool:
    firings, next_at = due_firings(
        plan.next_at or now,
        now,
        cron=plan.cron,
        every_us=plan.every_us,
        timezone=plan.timezone,
        missed=plan.missed,
        most=store.settings.count("schedule.max_missed"),
    )
    return fire(store, plan, firings, next_at) and bool(firings)


def apply_settings(store: Store) -> str | None:
    """Bring settings that were changed elsewhere into force."""
    return "settings changed" if refresh_settings(store) else None


def say_words(registry: Registry, store: Store) -> str | None:
    """Let apps record what became of their quarantined tasks."""
    words = partial(last_words, rules=registry)
    number = say_last_words(
        store, sorted({kind for kind, _ in registry.scopes()}), words, store.settings.count("reaper.batch")
    )
    return f"on_failed ran for {number} quarantined tasks" if number else None


CHORES = (
    Chore("reaper", "reaper.every", reap_lost),
    Chore("permits", "reaper.every", sweep_permits),
    Chore("money", "reaper.every", assume_spent),
    Chore("repair", "repair.every", repair_counters),
    Chore("prune", "prune.every", prune_history),
    Chore("hosts", "prune.every", prune_idle_hosts),
    Chore("vectors", "prune.every", prune_vectors),
    Chore("pages", "prune.every", prune_kept),
    Chore("ledger", "prune.every", prune_ledger),
    Chore("scheduler", "schedule.every", fire_schedules),
    Chore("settings", "settings.every", apply_settings),
)


def chores_of(registry: Registry) -> tuple[Chore, ...]:
    """All background loops of a worker that knows these apps."""
    return (
        *CHORES,
        Chore("last words", "reaper.every", partial(say_words, registry)),
        Chore("webhooks", "webhook.every", partial(forward_events, registry)),
    )


async def keep_doing(chore: Chore, store: Store, threads: Executor) -> None:
    """Run a chore until cancelled. A database that is away is waited for; the next round tries again."""
    set_log_context(lambda: {"chore": chore.name})
    while True:
        # Spread, so that a hundred machines do not come at the same moment.
        await asyncio.sleep(float(store.settings[chore.every]) * random.uniform(0.8, 1.2))
        try:
            # Aside: a long round must not keep the worker's turns waiting. And not on the loop's own threads:
            # stages may hold them all.
            said = await asyncio.get_running_loop().run_in_executor(
                threads, copy_context().run, chore.once, store
            )
        except DatabaseProblem as problem:
            log.warning("%s: %s", chore.name, problem)
            continue
        except Exception:
            log.exception("%s failed; it is retried in its next round", chore.name)
            continue
        if said:
            log.info("%s: %s", chore.name, said)

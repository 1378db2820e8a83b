"""Each rule of the queue, removed on purpose: a check that stays silent then has no teeth."""

from contextlib import closing
from importlib.resources import files

import pytest

from tests.harness.databases import memory_database, only_postgres
from tests.harness.walk import Violation, Walk
from tests.store import schedules
from thresher.core.clock import FrozenClock
from thresher.core.gate import Gate
from thresher.core.settlement import Settlement
from thresher.store.gates import Gates
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.sqlite import backend as sqlite_claim
from thresher.store.sqlite.backend import SqliteBackend

FUNCTIONS = files("thresher.store.postgres").joinpath("functions.sql").read_text(encoding="utf-8")

# What is removed, as (the text, what stands there instead), and the schedule that must notice.
SQL_MUTANTS = {
    "the owed timer is forgotten": (
        "if owing is not null then update gates set wake_at = now where id = any (owing); end if;",
        "",
        schedules.wake_meets_a_locked_lane,
    ),
    "a wake-up waits for a lane": (
        "order by l.position, l.id limit w.n for no key update skip locked) x),",
        "order by l.position, l.id limit w.n for no key update) x),",
        schedules.wake_meets_a_locked_lane,
    ),
    "a lane is parked without all its gates": (
        "if array_position(lane.places, null) is not null then busy := true; continue; end if;",
        "lane.places := array_remove(lane.places, null);",
        schedules.claim_meets_a_gate_held_elsewhere,
    ),
    "a claim waits for gates": (
        "where l.id = any (lane_ids)))\n                for no key update skip locked) z;",
        "where l.id = any (lane_ids)))\n                for no key update) z;",
        schedules.claim_meets_a_gate_held_elsewhere,
    ),
    "the fence does not ask for the claim": (
        "and t.claim = i.claim and",
        "and",
        schedules.zombie_that_fails_while_the_next_owner_runs,
    ),
    "the fence does not ask for the claim of what is simply done": (
        "and t.claim = claims[i] and",
        "and",
        schedules.zombie_while_the_next_owner_runs,
    ),
    "a timer is set only when a lane is parked": (
        "when g_left[i] > 0 or (g_parked[i] = 0 and (select",
        "when g_left[i] > 0 or g_parked[i] = 0 or (g_parked[i] = 0 and (select",
        schedules.rate_spent_while_others_are_parked,
    ),
    "a gate that time keeps closed is left without a timer": (
        "or (g_opens[i] is not null and g.wake_at is null));",
        ");",
        schedules.claim_with_a_clock_read_too_early,
    ),
    "the baton is not handed on": (
        "where b.n > 0 and b.seen > 0;",
        "where false;",
        schedules.freed_slot_for_a_lane_that_cannot_use_it,
    ),
    "a claim takes what its worker does not know": (
        "from h where known is null or h.scope = any (known);",
        "from h;",
        schedules.worker_that_knows_one_of_two_stages,
    ),
    "a freed slot wakes the first lane, whoever knows it": (
        "where l.status = 'parked' and l.parked_on = w.gate_id and l.scope > p.scope",
        "where false and l.scope > p.scope",
        schedules.freed_slot_while_nobody_knows_the_first_in_line,
    ),
    "settlements take gates in any order": (
        "order by g.id for no key update) z;",
        "order by g.id desc for no key update) z;",
        schedules.settlers_that_need_the_same_gates,
    ),
    "a task is put into a lane that was removed": (
        "if cardinality(shared) < cardinality(unheld) then",
        "if false then",
        schedules.pruning_against_enqueue,
    ),
    "a lane that is not held is not shared either": (
        "where l.id = any (unheld) order by l.id for key share);",
        "where l.id = any (unheld) order by l.id);",
        schedules.enqueue_against_pruning,
    ),
}

# Whoever decides by what it saw before a lane was its own must hold the lane first.
SEEN_IDLE = ("where l.id = r.id;\nend;", "where l.id = r.id and l.status = 'idle';\nend;")
LANE_MUTANTS = {
    "a task is put into a lane that is not held": (
        "where l.id = any (due_lanes) order by l.id for no key update skip locked);",
        "where l.id = any (due_lanes) order by l.id);",
        schedules.idle_against_enqueue,
    ),
    "a task is sent back into a lane that is not held": (
        "where t.id = any (back))) order by l.id for no key update;",
        "where t.id = any (back)));",
        schedules.idle_against_requeue,
    ),
}


def install(store, *changes):
    """The functions of this schema, with some of their text replaced."""
    text = FUNCTIONS
    for old, new in changes:
        assert text.count(old) == 1, f"the text to replace was found {text.count(old)} times: {old}"
        text = text.replace(old, new)
    with store.write() as session:
        session.run(text)


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize(("old", "new", "schedule"), SQL_MUTANTS.values(), ids=SQL_MUTANTS)
def test_a_schedule_notices_that(database, store, clock, old, new, schedule):
    install(store, (old, new))
    assert next(schedule(database, store, clock), None) is not None


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize(("old", "new", "schedule"), LANE_MUTANTS.values(), ids=LANE_MUTANTS)
def test_a_schedule_notices_a_missing_lock(database, store, clock, old, new, schedule):
    install(store, (old, new), SEEN_IDLE)
    assert next(schedule(database, store, clock), None) is not None


@only_postgres
@pytest.mark.parametrize("schedule", [mutant[2] for mutant in LANE_MUTANTS.values()], ids=LANE_MUTANTS)
def test_with_its_lane_held_a_task_may_decide_by_what_it_sees(database, store, clock, schedule):
    """The control: it is the missing lock that the schedules notice, not what else was changed."""
    install(store, SEEN_IDLE)
    assert list(schedule(database, store, clock)) == []


@pytest.mark.promise(1)
@only_postgres
def test_a_schedule_notices_that_a_cancellation_does_not_hold_the_lane(database, store, clock, monkeypatch):
    monkeypatch.setattr(PostgresBackend, "lock_lanes", lambda *_: None)
    assert next(schedules.claim_against_cancel(database, store, clock), None) is not None


def walks_end_well(seeds, steps):
    for seed in seeds:
        clock = FrozenClock()
        with closing(memory_database(clock)) as database:
            Walk([database.open()], clock, seed).run(steps)


def no_baton(monkeypatch):
    def timers_only(hand):
        carried, hand._carried = hand._carried, {}
        for gate_id, _ in carried:
            hand.gates.settle_timer(gate_id)

    monkeypatch.setattr(sqlite_claim._Hand, "_pass_baton", timers_only)


def no_fence(monkeypatch):
    fence = SqliteBackend.fence

    def by_id_only(self, session, settlements, lanes, rules, now):
        claims = dict(session.rows("select id, claim from tasks"))
        return fence(
            self,
            session,
            [each._replace(claim=claims[each.task_id]) for each in settlements],
            lanes,
            rules,
            now,
        )

    monkeypatch.setattr(SqliteBackend, "fence", by_id_only)


def no_timer_after_consuming(monkeypatch):
    def wakes_only(hand):
        carried, hand._carried = hand._carried, {}
        for (gate_id, scope), lanes in carried.items():
            if hand.gates.get(gate_id).allowance(hand.gates.now) > 0:
                hand.gates.open(gate_id, lanes, scope)

    monkeypatch.setattr(sqlite_claim._Hand, "_pass_baton", wakes_only)


def no_wake_on_release(monkeypatch):
    monkeypatch.setattr(Gates, "open", lambda self, gate_id, wanted, scope=None: self.settle_timer(gate_id))


def no_rate(monkeypatch):
    take = Gate.take

    def forgetful(self, starts, now):
        tat = self.tat
        take(self, starts, now)
        self.tat = tat

    monkeypatch.setattr(Gate, "take", forgetful)


def no_slots(monkeypatch):
    monkeypatch.setattr(Gate, "release", lambda self, ended: None)


def no_closing_while_paused(monkeypatch):
    monkeypatch.setattr(Gates, "settle_timer", lambda self, gate_id: None)


def no_waking_of_idle_lanes(monkeypatch):
    monkeypatch.setattr(sqlite_claim, "make_ready", lambda session, ranks: None)


def no_scopes(monkeypatch):
    claim = sqlite_claim.claim
    monkeypatch.setattr("thresher.store.sqlite.backend.claim", lambda *args: claim(*args[:5]))


def no_wake_by_scope(monkeypatch):
    wake = Gates.wake

    def first_only(self, gate_id, most, scope=None):
        rows = self._session.rows(
            "select scope from lanes where parked_on = :gate order by position, id limit 1", {"gate": gate_id}
        )
        wake(self, gate_id, most, rows[0][0] if rows else 0)

    monkeypatch.setattr(Gates, "wake", first_only)


def no_result_beside_the_state(monkeypatch):
    """What hands a result back goes the way of what is simply done, which writes none."""
    is_plain = Settlement.is_plain.fget
    monkeypatch.setattr(Settlement, "is_plain", property(lambda self: is_plain(self._replace(result=None))))


REMOVED = (
    no_scopes,
    no_wake_by_scope,
    no_result_beside_the_state,
    no_baton,
    no_fence,
    no_timer_after_consuming,
    no_wake_on_release,
    no_rate,
    no_slots,
    no_closing_while_paused,
    no_waking_of_idle_lanes,
)


@pytest.mark.promise(3)
@pytest.mark.parametrize("remove", REMOVED, ids=lambda remove: remove.__name__)
def test_the_model_check_notices(monkeypatch, remove):
    remove(monkeypatch)
    with pytest.raises(Violation, match="THRESHER_MODEL_SEED="):
        walks_end_well(range(30), 200)

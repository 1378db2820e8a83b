import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import claim_one, done, entry, fields_of, filing, put, rows, running, settle
from thresher.core.settlement import Settlement

LINKS = "select r.key, l.name, l.target from links l join records r on r.id = l.record_id order by 1, 2, 3"


@pytest.mark.promise(2)
def test_records_become_fact_with_the_settlement(store):
    task = running(store)
    assert rows(store, "select count(*) from records") == [(0,)]
    settle(store, done(task, records=(filing("a", data='{"n":1}'), filing("b"))))
    assert rows(store, "select kind, key, data, first_task, seen from records order by key") == [
        ("posting", "a", '{"n":1}', task.id, 1),
        ("posting", "b", "{}", task.id, 1),
    ]


@pytest.mark.promise(9)
def test_a_record_seen_again_is_not_stored_twice_and_gains_the_new_link(store):
    first = running(store)
    settle(store, done(first, records=(filing("a", ("role", "python"), data='{"n":1}'),)))
    second = running(store)
    settle(store, done(second, records=(filing("a", ("role", "rust"), ("role", "python"), data='{"n":2}'),)))

    assert rows(store, "select key, data, first_task, last_task, seen from records") == [
        ("a", '{"n":2}', first.id, second.id, 2)
    ]
    assert rows(store, LINKS) == [("a", "role", "python"), ("a", "role", "rust")]


@pytest.mark.promise(9)
def test_the_same_record_twice_in_one_settlement_keeps_the_links_of_both(store):
    settle(
        store, done(running(store), records=(filing("a", ("query", "one")), filing("a", ("query", "two"))))
    )
    assert rows(store, "select count(*) from records") == [(1,)]
    assert rows(store, LINKS) == [("a", "query", "one"), ("a", "query", "two")]


@pytest.mark.promise(2)
def test_a_settlement_whose_record_cannot_be_written_is_not_written_at_all(store):
    task = running(store)
    with pytest.raises(Exception, match=r"(?i)null"):
        store.settle(
            [done(task, records=(filing("a"), filing("b", data=None)), children=(entry(key="child"),))]
        )
    assert fields_of(store, task.id)["state"] == "running"
    assert rows(store, "select count(*) from records") == [(0,)]
    assert rows(store, "select count(*) from tasks") == [(1,)]
    settle(store, done(task))


def test_the_next_stage_stands_behind_its_own_gates_with_its_checkpoint(store):
    gate(store, "source:web", slots=1)
    gate(store, "source:model", slots=1)
    task = running(store, entry(gates=["source:web"]))
    settle(store, Settlement.advance(task, stage="extract", gates=("source:model",), checkpoint='{"page":7}'))

    assert gate_row(store, "source:web")["in_flight"] == 0
    again = claim_one(store)
    assert (again.id, again.stage, dict(again.checkpoint), again.claim) == (
        task.id,
        "extract",
        {"page": 7},
        2,
    )
    assert (gate_row(store, "source:web")["in_flight"], gate_row(store, "source:model")["in_flight"]) == (
        0,
        1,
    )
    settle(store, done(again))
    assert gate_row(store, "source:model")["in_flight"] == 0


def test_a_checkpoint_survives_a_retry(store):
    task = running(store)
    settle(store, Settlement.advance(task, stage="extract", gates=(), checkpoint='{"page":7}'))
    settle(store, Settlement.hand_back(claim_one(store), reason="stopping"))
    assert dict(claim_one(store).checkpoint) == {"page": 7}


@pytest.mark.parametrize(
    ("ending", "state"),
    [
        (lambda task: Settlement.done(task), "succeeded"),
        (lambda task: Settlement.filtered(task, reason="no"), "filtered"),
        (lambda task: Settlement.skipped(task, reason="no"), "skipped"),
        (lambda task: Settlement.cancelled(task, reason="no"), "cancelled"),
    ],
    ids=["done", "filtered", "skipped", "cancelled"],
)
@pytest.mark.promise(1)
def test_an_ended_task_is_in_one_terminal_state_with_its_time(store, clock, ending, state):
    task = running(store)
    settle(store, ending(task))
    fields = fields_of(store, task.id)
    assert (fields["state"], fields["finished_at"], fields["due"], fields["run_at"]) == (
        state,
        clock.now(),
        0,
        None,
    )


@pytest.mark.promise(9)
def test_records_found_by_a_filtered_task_are_kept(store):
    settle(store, Settlement.filtered(running(store), reason="too old", records=(filing("a"),)))
    assert rows(store, "select count(*) from records") == [(1,)]


def test_a_task_put_back_by_a_stopping_worker_has_lost_nothing(store):
    task = running(store)
    settle(store, Settlement.hand_back(task, reason="stopping"))
    again = claim_one(store)
    assert (again.id, again.failures, again.crashes) == (task.id, 0, 0)


def test_the_blame_of_a_settlement_without_gates_is_nobodys(store):
    put(store)
    task = claim_one(store)
    settle(store, Settlement.retry(task, delay_us=0, error=None, blame=None))
    assert fields_of(store, task.id)["failures"] == 1

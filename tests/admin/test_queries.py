"""What a person may see, on every database."""

import pytest

from tests.harness.gates import gate
from tests.harness.tasks import (
    SOMEBODY,
    change,
    claim,
    claim_one,
    done,
    entry,
    failed,
    put,
    retry,
    running,
    settle,
    told_to_wait,
    troubled,
    walled,
    worker,
)
from thresher.admin.events import list_events
from thresher.admin.failures import failure_filters, group_failures
from thresher.admin.gates import list_gates, show_gate
from thresher.admin.health import check_store
from thresher.admin.status import read_progress, read_rest, read_status
from thresher.admin.tasks import show_task, show_tree
from thresher.core.clock import SECOND
from thresher.core.errors import UsageError
from thresher.core.extension import CheckLevel
from thresher.core.gate import GateLimits
from thresher.store import sources

HERE = "source:a"


def waits(store, task_id: int) -> str:
    return "; ".join(show_task(store, task_id).waits)


@pytest.mark.promise(20)
def test_a_closed_gate_says_why_and_when_it_opens(store, clock):
    gate(store, HERE, slots=1, trip_after=2)
    assert show_gate(store, "a").state == "open"

    task = running(store, entry(gates=[HERE]))
    full = show_gate(store, "a")
    assert (full.state, full.why, full.opens_at) == ("full", "1 of 1 in flight", None)

    settle(store, told_to_wait(task, 60 * SECOND))
    paused = show_gate(store, "a")
    assert (paused.state, paused.tag, paused.why) == ("paused", "rate_limited", "RateLimited: slow down")
    assert paused.opens_at == clock.now() + 60 * SECOND

    clock.advance(61 * SECOND)
    for _ in range(2):
        settle(store, troubled(claim_one(store)))
    tripped = show_gate(store, "a")
    assert (tripped.state, tripped.opens_at) == ("tripped", clock.now() + 300 * SECOND)
    assert "2 failures in a row; the last: TimedOut: no answer" in (tripped.why or "")

    clock.advance(301 * SECOND)
    settle(store, walled(claim_one(store)))
    walled_ = show_gate(store, "a")
    assert (walled_.state, walled_.tag, walled_.opens_at) == ("disabled", "anti_bot", None)


@pytest.mark.promise(20)
def test_a_gate_at_its_rate_says_so(store):
    gate(store, HERE, interval_us=2 * SECOND)
    put(store, entry(gates=[HERE]), entry(gates=[HERE]))
    claim_one(store)
    view = show_gate(store, "a")
    assert (view.state, view.why, view.rate) == ("rate", "one start every 2 s", 0.5)


@pytest.mark.promise(20)
def test_every_waiting_task_says_what_it_waits_for(store, clock):
    gate(store, HERE, slots=1)
    first, second = put(store, entry(gates=[HERE]), entry(gates=[HERE]))
    assert "ready and next" in waits(store, first)
    assert "no worker is running" in waits(store, first)
    assert "1 task is ahead of it" in waits(store, second)

    mine = worker(store, "anna")
    assert "no worker" not in waits(store, first)
    task = claim_one(store, mine)
    assert "on worker anna" in waits(store, first)
    assert "source:a is full: 1 of 1 in flight" in waits(store, second)

    settle(store, retry(task, delay_us=60 * SECOND))
    assert "after TimedOut: no answer" in waits(store, first)

    sources.pause(store, HERE, 600 * SECOND, "tea")
    assert "source:a is paused: tea; it opens at" in waits(store, second)
    sources.disable(store, HERE, "auth", "bad key")
    assert (
        "source:a is disabled (auth): bad key; it stays closed until you enable it: thresher "
        "sources enable" in waits(store, second)
    )


def test_an_ended_task_waits_for_nothing(store):
    task = running(store)
    settle(store, done(task))
    detail = show_task(store, task.id)
    assert detail.waits == []
    assert [each["ending"] for each in detail.attempts] == ["done"]


@pytest.mark.promise(6)
@pytest.mark.promise(20)
def test_a_tree_holds_the_whole_lineage_and_every_refusal(store):
    root = running(store, entry(url="https://a.example/"))
    settle(store, done(root, children=(entry(url="https://a.example/1"), entry(url="https://a.example/"))))
    child = claim_one(store)
    settle(store, done(child, children=(entry(url="https://a.example/2"),)))
    assert show_tree(store, child.id, most=2).whole is False
    tree = show_tree(store, child.id).root
    assert tree.task["id"] == root.id
    assert [refusal["rule"] for refusal in tree.refusals] == ["in_ancestry"]
    assert [below.task["url"] for branch in tree.children for below in branch.children] == [
        "https://a.example/2"
    ]
    assert show_task(store, child.id).parent["id"] == root.id


@pytest.mark.promise(20)
def test_failures_are_grouped_over_hosts_of_one_source(store, clock):
    gate(store, HERE)
    for host in ("x", "y"):
        settle(store, failed(running(store, entry(gates=[HERE, f"host:{host}.example"]))))
    settle(store, failed(running(store, entry("other"))))
    groups = group_failures(store)
    assert [(group.count, group.kind, group.source) for group in groups] == [
        (2, "page", HERE),
        (1, "other", None),
    ]
    assert {group.message for group in groups} == {"404"}

    clock.advance(3_600 * SECOND)
    none = {"error": None, "kind": None, "source": None, "older": None, "newer": None}
    assert group_failures(store, **failure_filters(store, **none | {"newer": 60.0})) == []
    assert (
        len(
            group_failures(
                store, **failure_filters(store, **none | {"older": 60.0, "source": "host:x.example"})
            )
        )
        == 1
    )


@pytest.mark.promise(20)
def test_what_is_tried_again_is_listed_beside_what_failed(store, clock):
    began = clock.now()
    settle(store, failed(running(store, entry())))
    for _ in range(2):
        settle(store, retry(running(store, entry("other")), 60 * SECOND))
    gone, again = group_failures(store)
    assert (gone.state, gone.kind, gone.count, gone.next_at) == ("failed", "page", 1, None)
    assert (again.state, again.kind, again.count, again.error) == ("retrying", "other", 2, "TimedOut")
    assert (again.next_at, again.last_at) == (began + 60 * SECOND, began)
    assert [group.kind for group in group_failures(store, "retrying")] == ["other"]
    assert [group.kind for group in group_failures(store, "failed")] == ["page"]
    with pytest.raises(UsageError, match="failed and retrying, got 'odd'"):
        group_failures(store, "odd")

    clock.advance(120 * SECOND)
    none = {"error": None, "kind": None, "source": None, "older": None, "newer": None}
    assert group_failures(store, **failure_filters(store, **none | {"newer": 60.0})) == []
    assert len(group_failures(store, **failure_filters(store, **none | {"older": 60.0}))) == 2


@pytest.mark.promise(18)
@pytest.mark.promise(20)
def test_a_run_leaves_behind_what_failed_in_it_and_what_waits_and_why(store, clock):
    settle(store, failed(running(store, entry())))
    clock.advance(SECOND)
    since = clock.now()
    settle(store, failed(running(store, entry("late"))))
    for _ in range(3):
        settle(store, retry(running(store, entry("flaky")), 60 * SECOND))
    put(store, entry("asked for", delay_us=30 * SECOND), entry("strange"), entry("known"))
    rest = read_rest(store, [("known", "fetch")], since)
    assert [group.kind for group in rest.failures] == ["late"]
    assert [(each.count, each.kind, each.error, each.next_at) for each in rest.waits] == [
        (3, "flaky", "TimedOut", since + 60 * SECOND),
        (1, "asked for", None, since + 30 * SECOND),
    ]
    assert rest.unserved == {"strange": 1}


@pytest.mark.promise(20)
def test_the_status_counts_what_there_is(store, clock):
    gate(store, HERE, slots=1)
    mine = worker(store, "anna")
    put(store, *(entry(gates=[HERE]) for _ in range(3)), entry("later", delay_us=60 * SECOND))
    claim_one(store, mine)
    store.turn([], 5, SOMEBODY)  # finds the gate full, and parks the lane on it
    status = read_status(store)
    assert status.counts == {"page": {"running": 1, "pending": 2}, "later": {"pending": 1}}
    assert (status.waiting["due"], status.waiting["delayed"], status.waiting["next_at"]) == (
        2,
        1,
        clock.now() + 60 * SECOND,
    )
    assert [(each.name, each.alive, each.holds, each.tasks[0]["kind"]) for each in status.workers] == [
        ("anna", True, 1, "page")
    ]
    assert [(each.name, each.state, each.waiting) for each in status.closed] == [(HERE, "full", 2)]
    clock.advance(3_600 * SECOND)
    assert [each.alive for each in read_status(store).workers] == [False]


def test_progress_counts_what_has_ended_however_it_ended(store):
    settle(store, failed(running(store)))
    settle(store, done(running(store)))
    put(store)
    (page,) = read_progress(store).kinds
    assert (page.done, page.total, page.succeeded, page.failed) == (2, 3, 1, 1)


def test_sources_and_hosts_are_listed_apart(store):
    sources.add_source(store, "a", GateLimits())
    put(store, entry(gates=["host:x.example"]))
    assert [view.name for view in list_gates(store)] == [HERE]
    assert [view.name for view in list_gates(store, every=True)] == ["host:x.example", HERE]


@pytest.mark.promise(3)
@pytest.mark.promise(20)
def test_the_doctor_sees_a_counter_that_drifted(store):
    gate(store, HERE, slots=5)
    running(store, entry(gates=[HERE]))
    assert {check.name: check.verdict for check in check_store(store, None)}["gates"] is CheckLevel.OK
    change(store, "update gates set in_flight = 4")
    (wrong,) = [check for check in check_store(store, None) if check.name == "gates"]
    assert wrong.verdict is CheckLevel.WARN
    assert "counts 4, but 1 are running" in wrong.found


@pytest.mark.promise(20)
def test_the_doctor_sees_a_lane_that_nobody_will_wake(store):
    put(store, entry(gates=["host:x.example"]))
    change(store, "update lanes set status = 'idle', parked_on = null")
    (wrong,) = [check for check in check_store(store, None) if check.name == "gates"]
    assert wrong.verdict is CheckLevel.WARN
    assert "asleep" in wrong.found


@pytest.mark.promise(6)
def test_a_refused_spawn_is_logged_and_counted_and_can_be_listed(store, clock, caplog):
    root = running(store, entry(key="0"))
    settle(store, done(root, children=(entry(key="1"), entry(key="1"))))
    child = claim_one(store)
    settle(store, done(child, children=(entry(key="0"),)))
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.rpartition("(")[2].rstrip(")") for line in logged] == ["live_in_lineage", "in_ancestry"]
    assert f"task {child.id} may not spawn" in logged[1]
    assert read_status(store).refused == {"in_ancestry": 1, "live_in_lineage": 1}
    (newest, oldest) = list_events(store, kind="spawn_refused")
    assert (newest["task_id"], newest["detail"]["rule"], newest["detail"]["key"]) == (
        child.id,
        "in_ancestry",
        "0",
    )
    assert list_events(store, kind="spawn_refused", before=newest["id"]) == [oldest]
    (check,) = [each for each in check_store(store, None) if each.name == "spawns"]
    assert (check.verdict, check.found) == (
        CheckLevel.WARN,
        "refused: 2 in the last 24 hours (in_ancestry 1, live_in_lineage 1)",
    )
    clock.advance(25 * 3_600 * SECOND)
    assert read_status(store).refused == {}


@pytest.mark.promise(6)
def test_a_lineage_that_grows_deep_is_told_once_before_it_is_stopped(make_store, clock, caplog):
    store = make_store(lineage__alert_depth=2, lineage__max_depth=4)
    task = root = running(store, entry(key="0"))
    for depth in range(1, 3):
        settle(store, done(task, children=(entry(key=str(depth)),)))
        task = claim_one(store)
    assert (read_status(store).deep, list_events(store, kind="lineage_deep"), caplog.records) == (0, [], [])

    settle(store, done(task, children=(entry(key="3"), entry(key="3a"))))
    deep, sibling = claim(store, 2)
    settle(store, done(deep, children=(entry(key="4"),)))
    settle(store, done(sibling, children=(entry(key="4a"),)))
    (told,) = list_events(store, kind="lineage_deep")
    assert (told["task_id"], told["detail"]) == (
        root.id,
        {"depth": 3, "limit": 4, "parent": task.id, "kind": "page"},
    )
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(f"lineage_deep: task {root.id} (depth 3, limit 4")
    assert (read_status(store).refused, read_status(store).deep) == ({}, 1)
    (check,) = [each for each in check_store(store, None) if each.name == "lineages"]
    assert check.verdict is CheckLevel.WARN
    assert check.found == "1 lineage has grown deeper than lineage.alert_depth in the last 24 hours"

    put(store, entry(key="other"))
    for depth in range(4):
        (other,) = [each for each in claim(store, 5) if each.kind == "page" and each.depth == depth]
        settle(store, done(other, children=(entry(key=f"other {depth}"),)))
    assert read_status(store).deep == 2, "each lineage is told of"
    clock.advance(25 * 3_600 * SECOND)
    assert read_status(store).deep == 0


@pytest.mark.promise(6)
def test_a_flood_of_refusals_is_logged_in_a_few_lines(store, caplog):
    root = running(store, entry(key="0"))
    settle(store, done(root, children=tuple(entry(key="1") for _ in range(100))))
    assert len(caplog.records) < 10
    assert "thresher events --kind spawn_refused" in caplog.records[-1].getMessage()
    assert read_status(store).refused == {"live_in_lineage": 99}


@pytest.mark.promise(10)
@pytest.mark.parametrize(
    ("trouble", "says"),
    [
        (walled, "gate_disabled: source:a"),
        (lambda task: told_to_wait(task, 60 * SECOND), "gate_paused: source:a"),
        (troubled, "gate_tripped: source:a"),
    ],
)
def test_a_gate_that_closes_is_logged_with_its_reason(store, caplog, trouble, says):
    gate(store, HERE, trip_after=1)
    settle(store, trouble(running(store, entry(gates=[HERE]))))
    (line,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert line.startswith(says)
    assert "reason" in line


def test_what_was_not_committed_is_not_logged(store, caplog):
    def fail() -> None:
        with store.write() as session:
            session.warnings.append("this never happened")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert caplog.records == []

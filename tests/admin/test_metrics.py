"""The metrics: true on both databases, readable by Prometheus, and no more lines with more tasks."""

import re

from tests.harness.backlog import SMALL
from tests.harness.tasks import SOMEBODY, done, entry, failed, settle
from thresher.admin.metrics import Metric, Sample, exposition, read_metrics
from thresher.core.clock import MINUTE, SECOND
from thresher.store.workers import register, stop

LINE = re.compile(r'thresher_\w+(\{[a-z_]+="[^"\\\n]*"(,[a-z_]+="[^"\\\n]*")*\})? -?[0-9.e+-]+(inf)?')


def figures(store) -> dict[str, float]:
    """The lines of the exposition, each with its value."""
    lines = [line for line in exposition(read_metrics(store)).splitlines() if not line.startswith("#")]
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_tasks_are_counted_by_state_and_by_how_they_ended(store, clock):
    store.enqueue([entry(key=str(n)) for n in range(5)])
    clock.advance(90 * SECOND)
    one, two, _ = store.turn([], 3, SOMEBODY).tasks
    clock.advance(4 * SECOND)
    settle(store, done(one), failed(two))
    told = figures(store)
    assert told['thresher_tasks{state="due"}'] == 2
    assert told['thresher_tasks{state="running"}'] == 1
    assert told['thresher_tasks{state="failed"}'] == 1
    assert told['thresher_recent_ended{outcome="succeeded"}'] == 1
    assert told['thresher_recent_ended{outcome="cancelled"}'] == 0
    assert told['thresher_recent_ended_seconds{outcome="failed"}'] == 4
    assert told["thresher_oldest_ready_seconds"] == 94
    clock.advance(6 * MINUTE)
    assert figures(store)['thresher_recent_ended{outcome="succeeded"}'] == 0


def test_only_workers_whose_heartbeat_comes_are_alive(store, clock):
    assert figures(store)["thresher_workers_alive"] == 0
    lasting = register(store, name="a", host="here", pid=1, lease_us=60 * SECOND)
    register(store, name="b", host="here", pid=2, lease_us=10 * SECOND)
    assert figures(store)["thresher_workers_alive"] == 2
    clock.advance(30 * SECOND)
    assert figures(store)["thresher_workers_alive"] == 1
    stop(store, lasting)
    assert figures(store)["thresher_workers_alive"] == 0


def test_an_empty_queue_has_every_line_that_a_full_one_has(store):
    empty = set(figures(store))
    SMALL.write(store)
    assert set(figures(store)) == empty


def test_what_a_metric_says_is_one_line_each():
    metric = Metric(
        "thresher_x", "histogram", "Says.", (Sample(3, (("le", "+Inf"),), "_bucket"), Sample(0.5, (), "_sum"))
    )
    assert exposition([metric]) == (
        '# HELP thresher_x Says.\n# TYPE thresher_x histogram\nthresher_x_bucket{le="+Inf"} 3\nthresher_x_sum 0.5\n'
    )

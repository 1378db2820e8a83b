"""What a stage brings may be too long, too large or no value at all: a bad child is refused, a bad record
fails its task, and no more."""

import math
import random

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import App, Done, Link, NewTask, Pipeline, Record, Snooze, Stage, host_gate
from thresher.core.limits import MAX_KEY_BYTES

pytestmark = with_processes

_chance = random.Random(7)
# As a crawled address may be: nothing in it that a database could pack together.
LONG = "".join(_chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=2_700))
HUGE_HOST = ".".join(LONG[at : at + 60] for at in range(0, 2_700, 60))


def visit(ctx):
    return Done()


def family(*children):
    """A parent that brings these children and a record, and a kind for the children that goes through their
    hosts."""

    def bear(ctx):
        return Done(children=children, records=(Record("page", "good", {"a": 1}),))

    hosts = Stage(visit, name="go", through=lambda trip: (host_gate(trip.url),) if trip.url else ())
    return App("test", pipelines=(Pipeline("bear", Stage(bear)), Pipeline("visit", hosts)))


@pytest.mark.promise(1)
@pytest.mark.promise(6)
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (NewTask("visit", url=f"https://{HUGE_HOST}.example/"), "has 2,752 characters"),
        (NewTask("visit", url="https://a.example/" + LONG * 4), "the limit is 8,192"),
        (NewTask("visit", url="not an address\x00\ud800"), "is not a URL"),
        (NewTask("visit", key=LONG), "a key must have 1 to 512 characters"),
        (NewTask("visit", {"body": LONG * 30}), "the limit is 65,536"),
        (NewTask("visit", {"price": math.nan}), "NaN or Infinity"),
        (NewTask("visit", priority=1.5), "a priority must be a whole number"),
        (NewTask("visit", priority=True), "a priority must be a whole number"),
        (NewTask("visit", delay=math.inf), "a delay must be between 0"),
    ],
    ids=["host", "url", "no url", "key", "payload", "nan", "priority", "truth", "delay"],
)
def test_a_child_that_cannot_be_a_task_is_refused_and_all_else_goes_through(workshop, bad, why):
    good = (NewTask("visit", url="https://a.example/1"), NewTask("visit", key="k"))
    (task_id,) = workshop.drained(family(good[0], bad, good[1]), NewTask("bear"))
    assert workshop.state(task_id) == "succeeded"
    assert rows(workshop.store, "select count(*) from tasks where kind = 'visit'") == [(2,)]
    assert rows(workshop.store, "select key from records") == [("good",)]
    ((parent, kind, rule, detail),) = rows(
        workshop.store, "select parent_id, kind, rule, detail from refusals"
    )
    assert (parent, kind, rule) == (task_id, "visit", "invalid")
    assert why in detail


@pytest.mark.promise(1)
@pytest.mark.promise(19)
@pytest.mark.parametrize(
    ("record", "why"),
    [
        (Record("page", LONG), "the key of a page record has 2,700 bytes; the limit is 2,000"),
        (Record("page", "é" * 1_001), "the key of a page record has 2,002 bytes"),
        (Record(LONG, "a"), "the kind of a record has 2,700 bytes; the limit is 200"),
        (
            Record("page", "a", links=(Link("role", LONG),)),
            "the target of a 'role' link of record page/a has 2,700 bytes",
        ),
        (
            Record("page", "a", links=(Link(LONG, "x"),)),
            "the name of a link of record page/a has 2,700 bytes",
        ),
        (Record("page", "a", {"state": "o\x00pen"}, marks=("state",)), "contains a NUL character"),
        (Record("page", "a", {"size": 2**63}, marks=("size",)), "at most 64 bits"),
        (Record("page", "a", {"size": 1.5}, marks=("size",)), "must be text or a whole number"),
        (Record("page", "a", {"size": -math.inf}), "NaN or Infinity"),
        (
            Record("page", "a", {LONG: 1}, marks=(LONG,)),
            "the name of a mark of record page/a has 2,700 bytes",
        ),
    ],
    ids=["key", "bytes", "kind", "target", "link", "nul", "bigint", "fraction", "infinity", "mark"],
)
def test_a_record_that_cannot_be_kept_fails_its_own_task_at_once_and_no_other(workshop, record, why):
    def find(ctx):
        return (
            Done(records=(record,))
            if ctx.task.payload
            else Done(records=(Record("page", f"good {ctx.task.id}"),))
        )

    bad, *good = workshop.drained(
        one_stage("find", find), NewTask("find", {"bad": 1}), *(NewTask("find") for _ in range(5))
    )
    fields = workshop.fields(bad)
    assert (fields["state"], fields["error"], workshop.endings(bad)) == (
        "failed",
        "InvalidPayload",
        ["failed"],
    )
    assert why in fields["reason"]
    assert {workshop.state(each) for each in good} == {"succeeded"}
    assert rows(workshop.store, "select count(*) from records") == [(5,)]


@pytest.mark.promise(19)
@pytest.mark.parametrize(
    "record",
    [
        Record("k" * 200, LONG[:MAX_KEY_BYTES], links=(Link("n" * 200, LONG[:MAX_KEY_BYTES]),)),
        Record(
            "k" * 200,
            "a",
            {"m" * 200: "".join(_chance.choices(list(map(chr, range(0x1F300, 0x1F600))), k=512))},
            marks=("m" * 200,),
        ),
        Record("page", "a", {"size": 2**63 - 1, "least": -(2**63)}, marks=("size", "least")),
    ],
    ids=["key and target", "mark", "bigint"],
)
def test_what_is_just_within_the_limits_is_kept_by_both_databases(workshop, record):
    (task_id,) = workshop.drained(one_stage("find", lambda ctx: Done(records=(record,))), NewTask("find"))
    assert (workshop.state(task_id), rows(workshop.store, "select key from records")) == (
        "succeeded",
        [(record.key,)],
    )


@pytest.mark.promise(8)
@pytest.mark.parametrize("delay", [math.nan, math.inf, 1e300])
def test_a_snooze_that_makes_no_sense_fails_and_says_so(workshop, delay):
    (task_id,) = workshop.drained(one_stage("find", lambda ctx: Snooze(delay, "later")), NewTask("find"))
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("failed", "InvalidPayload")

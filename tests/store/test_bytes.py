import orjson
import pytest

from tests.harness.tasks import claim_one, entry, fields_of, filing, put, rows, running, settle
from thresher.core.app import App
from thresher.core.errors import InvalidPayload
from thresher.core.group import Run
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Link, Record, pack
from thresher.core.settlement import Error, Settlement
from thresher.core.task import Task, dump
from thresher.engine.registry import Registry

HARD = {
    "unicode": "Größe 😀 \u2028 \ufeff",
    "nul": "a\x00b",
    "controls": "\x01\x1f\x7f",
    "big": 2**63 - 1,
    "small": -(2**63),
    "float": 0.1 + 0.2,
    "nested": {"": [None, True, {"'\";--": "\\"}]},
    "sql": ":name %s %(x)s $1 ?",
}


@pytest.mark.promise(19)
def test_a_payload_comes_back_byte_for_byte(store):
    text = dump(HARD, "payload", 65_536)
    (task_id,) = put(store, entry(payload=HARD))
    assert dict(claim_one(store).payload) == HARD
    assert rows(store, "select payload from tasks where id = :id", id=task_id) == [(text,)]


@pytest.mark.promise(19)
def test_a_checkpoint_and_a_record_come_back_byte_for_byte(store):
    task = running(store)
    text = orjson.dumps(HARD).decode()
    settle(
        store,
        Settlement.advance(
            task, stage="extract", gates=(), checkpoint=text, records=(filing("a", data=text),)
        ),
    )
    assert dict(claim_one(store).checkpoint) == HARD
    assert rows(store, "select data from records") == [(text,)]


@pytest.mark.promise(19)
@pytest.mark.parametrize("text", ["a\x00b", "half \ud800 a pair", "%s :x '"], ids=["nul", "surrogate", "sql"])
def test_text_that_one_database_cannot_keep_is_made_keepable_for_both(store, text):
    task = running(store)
    record = pack(Record("posting", text, links=(Link("role", text),)), 1_000)
    settle(store, Settlement.done(task, records=(record,)))
    (key,), (target,) = rows(store, "select key from records")[0], rows(store, "select target from links")[0]
    assert key == target
    assert "\x00" not in key


def test_reasons_of_any_length_and_script_are_kept(store):
    task = running(store)
    settle(store, Settlement.fail(task, error=Error("Wörst", "ß" * 2_000)))
    assert fields_of(store, task.id)["reason"] == "ß" * 2_000


@pytest.mark.promise(18)
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70])
def test_a_number_that_a_database_cannot_keep_is_refused_by_both_and_named(store, number):
    with store.write() as session:
        ways = {
            "id": lambda: session.rows("select id from tasks where id = :id", {"id": number}),
            "n": lambda: session.run("update gates set failures = :n", {"n": number}),
            "ids": lambda: session.rows("select id from tasks where id in (:ids*)", {"ids": [1, number]}),
            "longs": lambda: session.rows(
                "select id from tasks where id in (:longs*)", {"longs": [number] * 2_000}
            ),
            "at": lambda: session.many("update gates set tat = :at", [{"at": 1}, {"at": number}]),
        }
        for name, way in ways.items():
            with pytest.raises(
                InvalidPayload,
                match=rf"^{name}\w* is -?\d+; a whole number may have at most 64 bits",
            ):
                way()


@pytest.mark.promise(18)
@pytest.mark.parametrize("name", ["since", "until"])
def test_a_run_whose_time_is_no_time_fails_its_task_and_says_which(name):
    registry = Registry([App("test", pipelines=(Pipeline("page", Stage(visit)),))])
    with pytest.raises(InvalidPayload, match=f"{name} of run 'k' is {2**63}"):
        registry.admit_group(
            Task(1, 1, "page", "visit", {}, {}, None, 1, None, 0, 0, 0), Run("k", **{name: 2**63})
        )


def visit(ctx):
    return Done()


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"body": "x" * 70_000}, r"70,011 bytes; the limit is 65,536 \(setting queue.payload_limit\)"),
        ({"n": 2**64}, "not JSON"),
        ({"o": object()}, "not JSON"),
        ({"s": "\ud800"}, "not JSON"),
        ({1: "one"}, "not JSON"),
    ],
    ids=["too large", "too big a number", "an object", "half a pair", "a key that is no text"],
)
def test_what_cannot_be_a_payload_is_refused_with_the_reason(value, says):
    with pytest.raises(InvalidPayload, match=says):
        dump(value, "payload", 65_536)

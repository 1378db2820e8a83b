import orjson
import pytest

from tests.harness.tasks import claim_one, entry, fields_of, filing, put, rows, running, settle
from thresher.core.errors import InvalidPayload
from thresher.core.record import Link, Record, pack
from thresher.core.settlement import Error, Settlement
from thresher.core.task import dump

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
    settle(store, Settlement.advance(task, stage="extract", gates=(), checkpoint=text, records=(filing("a", data=text),)))
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

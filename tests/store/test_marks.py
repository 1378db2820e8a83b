"""Records that several tasks write, and that are found by their marks: the same on both databases."""

import threading

import pytest

from tests.harness.tasks import done, entry, running, settle
from thresher.core.errors import InvalidPayload, UsageError
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Between, Is, Link, Record, pack
from thresher.store.records import count_records, file_record, find_records, marks_of

MARKS = ("status", "score")


def file(store, *records):
    settle(store, done(running(store, entry()), records=tuple(pack(each, 65_536) for each in records)))


def match(key, *links, initial=None, **data):
    return Record(
        "match",
        key,
        data,
        tuple(Link("board", each) for each in links),
        merge=True,
        initial=initial or {},
        marks=MARKS,
    )


def find(store, **asked):
    with store.read() as session:
        return find_records(session, **asked)


def keys(store, **asked):
    return [each.key for each in find(store, kind="match", **asked)]


def test_a_merged_record_keeps_what_the_newer_one_does_not_say(store):
    file(store, match("a", title="Baker", score=3))
    file(store, match("a", score=5, place="Leeds"))
    (record,) = find(store)
    assert record.data == {"title": "Baker", "score": 5, "place": "Leeds"}
    assert (record.seen, dict(record.marks)) == (2, {"score": 5})


def test_a_record_that_is_not_merged_is_replaced(store):
    file(store, Record("note", "a", {"title": "Baker", "score": 3}))
    file(store, Record("note", "a", {"score": 5}))
    assert find(store)[0].data == {"score": 5}


def test_what_belongs_to_a_person_is_written_once(store):
    file(store, match("a", score=3, initial={"status": "new"}))
    file(store, match("a", status="applied"))
    file(store, match("a", score=9, initial={"status": "new"}))
    (record,) = find(store)
    assert record.data == {"status": "applied", "score": 9}
    assert keys(store, where=(Is("status", "applied"),)) == ["a"]
    assert keys(store, where=(Is("status", "new"),)) == []


def test_records_are_found_and_ordered_by_their_marks(store):
    file(
        store,
        match("a", status="new", score=3),
        match("b", status="new", score=30),
        match("c", status="old", score=7),
        match("d"),
    )
    assert keys(store, order="score") == ["a", "c", "b"]
    assert keys(store, order="-score", limit=2) == ["b", "c"]
    assert keys(store, where=(Is("status", "new"), Between("score", low=4))) == ["b"]
    assert keys(store, where=(Between("score", high=7),), order="score") == ["a", "c"]
    assert keys(store, where=(Is("score", 7, 30),), order="score") == ["c", "b"]
    assert keys(store, where=(Is("status"),)) == []
    assert keys(store, keys=["d", "nobody"]) == ["d"]


def test_a_mark_that_goes_is_no_longer_found(store):
    file(store, match("a", status="new", score=1))
    file(store, match("a", status=None))
    assert keys(store, where=(Is("status", "new"),)) == []
    assert keys(store, where=(Is("score", 1),)) == ["a"]


def test_a_mark_that_got_lost_is_written_again_with_its_record(store):
    """Marks that stay as they were are not written, so what is there has to be looked at and not assumed."""
    file(store, match("a", status="new", score=1))
    with store.write() as session:
        session.run("delete from marks where name = 'status'")
        session.run("update marks set number = 7 where name = 'score'")
    file(store, match("a", place="Leeds"))
    assert keys(store, where=(Is("status", "new"), Is("score", 1))) == ["a"]


def test_a_mark_may_change_from_a_text_to_a_number(store):
    file(store, match("a", score="7"))
    file(store, match("a", score=7))
    assert keys(store, where=(Is("score", "7"),)) == []
    assert keys(store, where=(Is("score", 7),)) == ["a"]


def test_the_marks_of_all_that_belongs_together_are_read_at_once(store):
    file(
        store, match("a", "x", status="new", score=1), match("b", "x", "y", score=2), match("c", "y", score=3)
    )
    with store.read() as session:
        assert marks_of(session, "match", Link("board", "x")) == {
            "a": {"status": "new", "score": 1},
            "b": {"score": 2},
        }
        assert marks_of(session, "posting", Link("board", "x")) == {}
        assert count_records(session, kind="match", link=Link("board", "y")) == 2
        assert count_records(session, kind="match", where=(Between("score", 2, 3),)) == 2


@pytest.mark.promise(9)
def test_a_merged_record_gains_links_and_loses_none(store):
    file(store, match("a", "x"))
    file(store, match("a", "y"))
    (record,) = find(store)
    assert record.linked("board") == ("x", "y")


@pytest.mark.promise(14)
def test_evidence_is_merged_field_by_field_and_counts_in_its_own_text(store):
    first = Evidence({"title": Place("Baker", 0, 5), "skills.0": Place("oven", 9, 13), "mood": None}, "one")
    file(
        store,
        Record("p", "a", {"title": "Baker", "skills": ["oven"], "mood": "good"}, evidence=first, merge=True),
    )
    second = Evidence({"skills.0": Place("flour", 2, 7)}, "two")
    file(store, Record("p", "a", {"skills": ["flour"]}, evidence=second, merge=True))
    evidence = find(store)[0].evidence
    assert evidence.source == "two"
    assert evidence.places == {
        "title": Place("Baker", 0, 5, source="one"),
        "mood": None,
        "skills.0": Place("flour", 2, 7),
    }
    file(store, Record("p", "a", {"title": "Cook"}, merge=True))
    assert find(store)[0].evidence.places == {"mood": None, "skills.0": Place("flour", 2, 7)}


@pytest.mark.parametrize("value", [1.5, ["new"], {"a": 1}, "x" * 600])
def test_a_mark_is_a_short_text_or_a_whole_number(value):
    with pytest.raises(InvalidPayload, match="has the mark status"):
        pack(match("a", status=value), 65_536)


def test_asking_for_texts_and_numbers_at_once_is_refused(store):
    with pytest.raises(UsageError, match="all text or all numbers"):
        find(store, where=(Is("status", "new", 3),))


@pytest.mark.promise(2)
def test_two_who_write_different_fields_at_the_same_time_lose_nothing(store):
    """Each reads, merges and writes within its own transaction, so the second sees what the first wrote."""
    start = threading.Barrier(4)

    def write(who):
        start.wait(10)
        for number in range(15):
            with store.write() as session:
                filing = pack(match("a", **{f"{who}{number}": number}), 65_536)
                file_record(session, filing, 0, store.backend.now(session))

    threads = [threading.Thread(target=write, args=(who,)) for who in "abcd"]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(find(store)[0].data) == 60


def test_many_keys_are_found_at_once(store):
    file(store, *(match(f"k{number}", score=number) for number in range(1_200)))
    assert (
        len(find(store, kind="match", keys=[f"k{number}" for number in range(1_200)], limit=2_000)) == 1_200
    )

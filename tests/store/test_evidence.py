"""A record says where its values stand, and never where other values stood."""

import pytest

from tests.harness.tasks import done, entry, running, settle
from thresher.core.errors import InvalidPayload
from thresher.core.evidence import Evidence, Place, as_json, of_json
from thresher.core.record import Link, Record, pack
from thresher.store.records import find_records

EVIDENCE = Evidence(
    {"title": Place("Emma", 10, 14), "price": Place("4.50", path="$.offers[0].price"), "mood": None}, "cafe"
)


def file(store, data, evidence=None, *links):
    record = Record("book", "emma", data, tuple(Link("shelf", each) for each in links), evidence)
    settle(store, done(running(store, entry()), records=(pack(record, 65_536),)))


def found(store):
    with store.read() as session:
        (record,) = find_records(session)
    return {
        "data": record.data,
        "links": [f"{link.name}={link.target}" for link in record.links],
        "evidence": as_json(record.evidence) if record.evidence else None,
    }


@pytest.mark.promise(14)
def test_a_record_is_stored_with_where_its_values_stand(store):
    file(store, {"title": "Emma"}, EVIDENCE)
    kept = found(store)["evidence"]
    assert kept == {
        "source": "cafe",
        "places": {
            "title": {"quote": "Emma", "start": 10, "end": 14},
            "price": {"quote": "4.50", "path": "$.offers[0].price"},
            "mood": None,
        },
    }
    assert of_json(kept) == EVIDENCE
    assert list(of_json(kept).unverified()) == ["mood"]


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "later", [None, Evidence({"title": None}), Evidence({"title": Place("EMMA", 0, 4)}, "beef")]
)
def test_newer_data_takes_the_older_evidence_along(store, later):
    file(store, {"title": "Emma"}, EVIDENCE, "a")
    file(store, {"title": "EMMA"}, later, "b")
    record = found(store)
    assert (record["data"], record["links"]) == ({"title": "EMMA"}, ["shelf=a", "shelf=b"])
    assert record["evidence"] == (later and as_json(later))


def test_a_record_without_evidence_has_none(store):
    file(store, {"title": "Emma"})
    assert found(store)["evidence"] is None


@pytest.mark.promise(19)
def test_a_quote_that_only_one_database_could_keep_is_kept_by_both(store):
    file(store, {"title": "Emma"}, Evidence({"title": Place("Em\x00ma \ud800", 0, 6)}))
    assert found(store)["evidence"]["places"]["title"] == {
        "quote": "Em\N{REPLACEMENT CHARACTER}ma ?",
        "start": 0,
        "end": 6,
    }


@pytest.mark.promise(18)
def test_evidence_that_is_too_large_is_refused_while_its_attempt_can_be_blamed():
    with pytest.raises(InvalidPayload, match="evidence of record book/emma"):
        pack(Record("book", "emma", {}, evidence=Evidence({"title": Place("x" * 5_000)})), 1_000)

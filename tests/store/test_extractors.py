"""What was learned of a site: one version in use, and no repair upon something its maker never saw."""

import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import events, rows
from thresher.core.clock import SECOND
from thresher.core.errors import TooLarge, UnknownName
from thresher.core.keys import content_hash
from thresher.store import blobs, extractors


def save(store, site="a.example", body="{}", base=None, score=0.9):
    return extractors.save(
        store, site=site, schema_name="book", schema_digest="d1", body=body, score=score, base=base
    )


def states(store):
    return rows(store, "select version, state from extractors order by site, version")


def test_a_new_version_takes_the_place_of_the_one_it_was_learned_from(store):
    assert extractors.active(store, "a.example", "book") is None
    first = save(store, body='{"v": 1}')
    assert (first.version, first.state, extractors.active(store, "a.example", "book")) == (1, "active", first)
    second = save(store, body='{"v": 2}', base=1)
    assert extractors.active(store, "a.example", "book") == second
    assert states(store) == [(1, "retired"), (2, "active")]
    assert extractors.active(store, "a.example", "car") is None
    assert [kind for kind, _, _ in events(store)] == ["extractor_learned"] * 2


@pytest.mark.promise(2)
@pytest.mark.parametrize("base", [None, 0, 1])
def test_a_repair_of_a_version_that_has_been_replaced_is_refused_and_changes_nothing(store, base):
    save(store)
    save(store, base=1)
    assert save(store, base=base) is None
    assert states(store) == [(1, "retired"), (2, "active")]


@pytest.mark.promise(2)
@with_processes
def test_of_machines_that_learn_the_same_site_at_once_one_is_first_and_one_stays_in_use(database):
    stores = [database.open() for _ in range(4)]
    for base in range(5):
        start, saved = threading.Barrier(4), []

        def learn(store, base=base, start=start, saved=saved):
            start.wait(10)
            saved.append(save(store, base=base))

        threads = [threading.Thread(target=learn, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [each.version for each in saved if each] == [base + 1]
    assert states(stores[0]) == [*((version, "retired") for version in range(1, 5)), (5, "active")]


def test_one_in_doubt_is_not_used_and_is_replaced_by_the_next(store):
    first = save(store)
    assert extractors.doubt(store, first.id, "the price is gone")
    assert not extractors.doubt(store, first.id, "the price is gone")
    assert extractors.active(store, "a.example", "book") is None
    assert extractors.last(store, "a.example", "book").state == "doubtful"
    assert events(store, "extractor_doubted") == [("extractor_doubted", None, None)]
    save(store, base=1)
    assert states(store) == [(1, "retired"), (2, "active")]


def test_one_that_is_retired_is_not_used(store):
    first = save(store)
    assert (extractors.retire(store, first.id), extractors.retire(store, first.id)) == (True, False)
    assert extractors.active(store, "a.example", "book") is None


def test_pages_are_counted_with_what_was_wrong_last(store, clock):
    first = save(store)
    clock.advance(SECOND)
    extractors.note(store, first.id, good=True)
    extractors.note(store, first.id, good=False, drift="price: missing\x00" + "x" * 10_000)
    extractors.note(store, first.id, good=False)
    found = extractors.active(store, "a.example", "book")
    assert (found.good, found.drifted, found.drift_at - found.made_at, len(found.last_drift)) == (
        1,
        2,
        SECOND,
        extractors.MAX_DRIFT,
    )
    extractors.note(store, 999, good=True)


def test_versions_are_listed_by_site_the_newest_first(store):
    for site in ("b.example", "a.example"):
        save(store, site)
        save(store, site, base=1)
    assert [(each.site, each.version) for each in extractors.versions(store)] == [
        ("a.example", 2),
        ("a.example", 1),
        ("b.example", 2),
        ("b.example", 1),
    ]
    assert [each.version for each in extractors.versions(store, "b.example", "book", limit=1)] == [2]
    assert extractors.versions(store, "c.example") == []


@pytest.mark.promise(18)
def test_one_that_is_too_large_is_refused(store):
    with pytest.raises(TooLarge, match="limit"):
        save(store, body="é" * (extractors.MAX_BODY // 2 + 1))


def test_doubting_one_that_does_not_exist_changes_nothing(store):
    assert not extractors.doubt(store, 5, "?")
    with pytest.raises(UnknownName), store.read() as session:
        extractors._learned(session, 5)


def add(store, page="p1", by="model", title="Emma", url=None, digest="d1"):
    labels = {"title": title}
    return extractors.add_example(
        store,
        site="a.example",
        schema_name="book",
        schema_digest=digest,
        page=blobs.pack(page.encode()),
        labels=labels,
        by=by,
        url=url,
    )


def known(store, limit=20, digest="d1"):
    found = extractors.examples(store, "a.example", "book", digest, limit)
    return [(blobs.get(store, each.page).decode(), each.by, each.labels["title"]) for each in found]


@pytest.mark.promise(2)
def test_an_example_is_kept_once_however_often_it_is_added(store):
    assert (add(store), add(store)) == (True, True)
    assert known(store) == [("p1", "model", "Emma")]


@pytest.mark.promise(14)
def test_what_a_person_says_of_a_page_outranks_data_and_data_a_model(store):
    assert add(store, by="model", title="Ema")
    assert add(store, by="data", title="EMMA")
    assert not add(store, by="model", title="Ema")
    assert add(store, by="person", title="Emma")
    assert not add(store, by="data", title="EMMA")
    assert known(store) == [("p1", "person", "Emma")]
    assert add(store, by="person", title="Emma, a novel"), "a person may think again"
    assert known(store) == [("p1", "person", "Emma, a novel")]


def test_the_most_trusted_come_first_then_the_newest_and_never_those_of_another_schema(store, clock):
    for page, by in (("m1", "model"), ("p1", "person"), ("m2", "model"), ("d1", "data")):
        clock.advance(SECOND)
        add(store, page, by)
    add(store, "other", "person", digest="d2")
    assert [page for page, _, _ in known(store)] == ["p1", "d1", "m2", "m1"]
    assert [page for page, _, _ in known(store, 2)] == ["p1", "d1"]
    assert [page for page, _, _ in known(store, digest="d2")] == ["other"]


def test_a_wrong_example_can_be_forgotten(store):
    add(store)
    page = content_hash(b"p1")
    assert (
        extractors.forget(store, "a.example", "book", page),
        extractors.forget(store, "a.example", "book", page),
    ) == (True, False)
    assert known(store) == []


@pytest.mark.promise(19)
def test_labels_that_only_one_database_could_keep_are_kept_by_both(store):
    add(store, title="a\x00b\ud800c", url="https://a.example/\x00")
    assert known(store) == [("p1", "model", "a\x00b\ud800c")]


@pytest.mark.promise(18)
def test_labels_that_are_too_large_are_refused(store):
    with pytest.raises(TooLarge, match="limit"):
        add(store, title="x" * extractors.MAX_LABELS)

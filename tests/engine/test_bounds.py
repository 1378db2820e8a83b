"""Memory is bounded: what is too large is refused at the door, and bodies are never unpacked beyond what they
claim."""

import pytest

from tests.engine.workshop import one_stage
from tests.harness.bodies import saved
from tests.harness.databases import with_processes
from tests.harness.tasks import change, rows
from thresher import Done, NewTask, Next, Record
from thresher.core.app import App
from thresher.core.errors import DatabaseProblem, InvalidPayload, TooLarge, UnknownName
from thresher.core.pipeline import Pipeline, Stage
from thresher.store import blobs
from thresher.store.pages import prune_pages
from thresher.store.prune import prune

pytestmark = with_processes


async def do(ctx):
    return Done()


@pytest.mark.promise(18)
def test_a_payload_over_the_limit_is_refused_and_nothing_is_written(workshop):
    registry = workshop.set_up(one_stage("do", do))
    with pytest.raises(
        InvalidPayload,
        match=r"the limit is 65,536 \(setting queue\.payload_limit\)\. Store large bodies with ctx\.save",
    ):
        registry.admit(NewTask("do", {"body": "x" * 65_536}))
    registry.admit(NewTask("do", {"body": "x" * 65_000}))
    assert rows(workshop.store, "select count(*) from tasks") == [(0,)]


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "outcome",
    [Next({"body": "x" * 70_000}), Next({}, records=(Record("page", "a", {"body": "x" * 70_000}),))],
    ids=["checkpoint", "record"],
)
def test_a_checkpoint_or_a_record_over_the_limit_fails_its_attempt_and_leaves_nothing(workshop, outcome):
    async def first(ctx):
        return outcome

    app = App("test", pipelines=(Pipeline("two", Stage(first), Stage(do)),))
    (task_id,) = workshop.drained(app, NewTask("two"), retry__max_retries=0)
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("failed", "InvalidPayload")
    assert rows(workshop.store, "select count(*) from records") == [(0,)]
    assert workshop.fields(task_id)["checkpoint"] is None


@pytest.mark.promise(18)
def test_a_body_over_the_limit_is_refused(workshop, monkeypatch):
    monkeypatch.setattr(blobs, "MAX_BODY", 1_000)

    async def keep(ctx):
        await ctx.save(b"x" * 1_001)

    (task_id,) = workshop.drained(one_stage("keep", keep), NewTask("keep"))
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("failed", "TooLarge")
    with pytest.raises(TooLarge):
        saved(workshop.store, b"x" * 1_001)
    assert rows(workshop.store, "select count(*) from blobs") == [(0,)]


@pytest.mark.promise(18)
def test_what_a_stage_has_saved_goes_with_its_lineage_unless_a_record_names_it(workshop):
    async def keep(ctx):
        await ctx.save(b"passing")
        return Done(records=(Record("page", "a", {"body": await ctx.save(b"evidence")}),))

    (task_id,) = workshop.drained(one_stage("keep", keep), NewTask("keep"))
    assert workshop.state(task_id) == "succeeded"
    change(workshop.store, "update tasks set finished_at = 1")
    assert prune(workshop.store) == 1
    change(workshop.store, "update loose_blobs set since = 1")
    prune_pages(workshop.store, 0)
    assert rows(workshop.store, "select size from blobs") == [(8,)]


@pytest.mark.promise(18)
def test_a_body_that_unpacks_to_more_than_it_claims_is_not_unpacked(workshop):
    name = saved(workshop.store, b"x" * 1_000_000)
    assert blobs.get(workshop.store, name) == b"x" * 1_000_000
    change(workshop.store, "update blobs set size = 10")
    with pytest.raises(DatabaseProblem, match="is damaged"):
        blobs.get(workshop.store, name)


def test_a_body_that_nobody_stored_is_unknown_by_name(workshop):
    with pytest.raises(UnknownName, match="no body is stored under abc"):
        blobs.get(workshop.store, "abc")

"""What a stage looks up stands as it is now: nothing is remembered, and nobody is kept waiting for a long
search."""

import asyncio
import threading
from contextlib import closing

from tests.engine.workshop import PATIENCE, one_stage
from tests.harness.databases import with_processes
from thresher import Done, Link, NewTask, Record
from thresher.core.record import Is, pack
from thresher.store.records import file_record

pytestmark = with_processes


def note(workshop, **data):
    """Somebody else writes."""
    record = pack(Record("note", "a", data, (Link("shelf", "top"),), merge=True, marks=("colour",)), 65_536)
    with closing(workshop.database.backend()) as backend, backend.write() as session:
        file_record(session, record, 0, 1)


def test_a_stage_sees_at_its_next_look_what_somebody_has_written_meanwhile(workshop):
    seen = []

    async def look(ctx):
        for colour in (None, "red", "blue"):
            if colour:
                await asyncio.to_thread(note, workshop, colour=colour)
            alone = await ctx.record("note", "a")
            among = await ctx.records("note", where=(Is("colour", "red", "blue"),), limit=2)
            many = await ctx.records("note", limit=1_000)
            assert ([alone] if alone else []) == among == many
            assert await ctx.marks("note", Link("shelf", "top")) == (
                {"a": {"colour": colour}} if colour else {}
            )
            seen.append(alone and (alone.data["colour"], alone.linked("shelf"), dict(alone.marks)))
        return Done()

    workshop.drained(one_stage("look", look), NewTask("look"))
    assert seen == [None, ("red", ("top",), {"colour": "red"}), ("blue", ("top",), {"colour": "blue"})]


def test_a_plain_function_looks_up_through_its_context_too(workshop):
    note(workshop, colour="red")
    seen = []

    def look(ctx):
        seen.append(ctx.wait(ctx.record("note", "a")).data)
        return Done()

    workshop.drained(one_stage("look", look), NewTask("look"))
    assert seen == [{"colour": "red"}]


def test_a_look_at_one_record_does_not_wait_for_who_reads_them_all(workshop):
    """Whoever exports a whole kind reads on a connection of their own."""
    note(workshop, colour="red")
    reading, done, in_time = threading.Event(), threading.Event(), []

    def export():
        with workshop.store.read():
            reading.set()
            in_time.append(done.wait(PATIENCE))

    async def look(ctx):
        exporter = threading.Thread(target=export)
        exporter.start()
        await asyncio.to_thread(reading.wait, PATIENCE)
        found = await ctx.record("note", "a")
        done.set()
        await asyncio.to_thread(exporter.join, PATIENCE)
        return Done(str(found.data["colour"]))

    (task_id,) = workshop.drained(one_stage("look", look), NewTask("look"))
    assert workshop.fields(task_id)["reason"] == "red"
    assert in_time == [True]

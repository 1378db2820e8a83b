"""A worker of an older version after a migration: it notices, hands its tasks back, and leaves."""

import asyncio
import logging

import pytest

from tests.engine.workshop import one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.tasks import change
from thresher import Done, NewTask
from thresher.core.errors import NewerSchema

pytestmark = with_processes

MIGRATED = "insert into migrations (number, name, applied_at) values (9999, 'future', 0)"


def left_by(workshop, after_migration, caplog):
    """Start a worker, migrate while it holds a task, and return the task after it has left by itself."""

    async def play():
        started = asyncio.Event()

        async def hang(ctx):
            started.set()
            await asyncio.Event().wait()
            return Done()

        registry = workshop.set_up(one_stage("hang", hang))
        (task_id,) = workshop.put(registry, NewTask("hang"))
        run = asyncio.create_task(workshop.worker(registry).run())
        await soon(started.wait())
        for sql in after_migration:
            change(workshop.store, sql)
        with pytest.raises(NewerSchema, match="is at schema 9999"):
            await soon(run)
        return task_id

    with caplog.at_level(logging.WARNING):
        return asyncio.run(play())


@pytest.mark.promise(1)
def test_a_worker_that_finds_a_newer_schema_hands_its_tasks_back_and_leaves(workshop, caplog):
    task_id = left_by(workshop, [MIGRATED], caplog)
    assert workshop.state(task_id) == "pending"
    assert workshop.endings(task_id) == ["handed_back"]
    assert sum("hands back its tasks and stops" in record.message for record in caplog.records) == 1


@pytest.mark.promise(1)
def test_a_worker_whose_statements_no_longer_fit_the_tables_leaves_and_does_not_warn_a_thousand_times(
    workshop, caplog
):
    """It can hand back nothing: its lease ends, and others give the task back."""
    left_by(
        workshop,
        [MIGRATED, "alter table lanes rename to paths", "alter table tasks rename column claim to fence"],
        caplog,
    )
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) < 20

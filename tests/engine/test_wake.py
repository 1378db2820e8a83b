"""Wake-ups are hints: one that cannot be sent, or was sent before anybody listened, changes nothing about the
work."""

import contextlib

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import only_postgres
from tests.harness.tasks import rows
from thresher import Done, NewTask
from thresher.core.errors import DatabaseProblem

pytestmark = only_postgres


async def do(ctx):
    return Done()


@pytest.mark.promise(1)
def test_work_that_was_accepted_stays_accepted_when_the_wake_up_cannot_be_sent(workshop):
    registry = workshop.set_up(one_stage("do", do))
    workshop.put(registry, NewTask("do"))  # meets the lanes
    elsewhere = workshop.machine()
    postgres = elsewhere.backend._postgres
    connection, sent = postgres.connection, []

    @contextlib.contextmanager
    def cut():
        """The server goes away after the commit, before the notice."""
        with connection() as found:
            if not found.info.transaction_status and rows(workshop.store, "select count(*) from tasks") == [
                (2,)
            ]:
                sent.append(1)
                raise DatabaseProblem("the server went away")
            yield found

    postgres.connection = cut
    assert elsewhere.enqueue([registry.admit(NewTask("do"))]) != [None]
    assert sent


def test_who_begins_to_listen_looks_once_because_something_may_have_been_said_before(workshop):
    backend = workshop.machine().backend
    assert backend.listen(0.01)
    assert not backend.listen(0.01)
    workshop.store.backend.ping()
    assert backend.listen(10)


def test_a_notice_within_the_pause_after_the_last_is_sent_when_the_pause_is_over(workshop):
    backend = workshop.machine().backend
    backend.listen(0.01)
    for _ in range(3):
        workshop.store.backend.ping()
    assert backend.listen(10)
    assert backend.listen(10), "the last word was swallowed"

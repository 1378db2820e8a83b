"""What goes to the database in one turn."""

import pytest

from thresher.core.limits import MAX_SETTLEMENT_BYTES
from thresher.core.record import Filing
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.engine.turns import Turns


@pytest.mark.promise(8)
def test_what_one_message_to_the_database_cannot_hold_is_settled_in_several_turns():
    large = Filing("page", "k", "x" * (MAX_SETTLEMENT_BYTES // 2))
    task = Task(1, 1, "page", "fetch", {}, {}, None, 1, None, 0, 0, 0)
    turns = Turns(None, None, None, lambda: None)
    for brought in ((large,), (), (large,), (large,), ()):
        turns.put(task, Settlement.done(task, records=brought))
    sizes = []
    while turns.outbox:
        sizes.append(len(turns.take_outgoing()))
    assert sizes == [2, 1, 2], "the key counts, too: two of them are more than the limit"

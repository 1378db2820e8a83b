"""Run a transaction again when the database aborted it to break a deadlock.

Nothing of an aborted transaction was written, so it can simply be repeated.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from thresher.core.errors import DatabaseProblem
from thresher.store.session import Session
from thresher.store.store import Store

T = TypeVar("T")
PAUSES = (0.005, 0.01, 0.02, 0.04)
_CONFLICTS = ("40001", "40P01")  # serialization failure, deadlock detected


def in_transaction(store: Store, work: Callable[[Session], T]) -> T:
    """Do the work in one transaction, all of it or nothing; a conflict is waited out. `work` may run more
    than once.
    """
    for pause in PAUSES:
        try:
            return _once(store, work)
        except DatabaseProblem as problem:
            if getattr(problem.__cause__, "sqlstate", None) not in _CONFLICTS:
                raise
            time.sleep(pause)
    return _once(store, work)


def _once(store: Store, work: Callable[[Session], T]) -> T:
    with store.write() as session:
        return work(session)

"""Repeat a transaction that the database aborted because of a conflict: a deadlock that it broke, or a
serialization failure. Nothing of such a transaction was written, so it can simply run again.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from thresher.core.errors import DatabaseProblem
from thresher.store.session import Session
from thresher.store.store import Store

T = TypeVar("T")
PAUSES = (0.005, 0.01, 0.02, 0.04)  # seconds before each repetition
CONFLICTS = ("40001", "40P01")  # SQLSTATE: serialization failure, deadlock detected


def in_transaction(store: Store, work: Callable[[Session], T]) -> T:
    """Do the work in one transaction, all of it or nothing, and again after a conflict. `work` may run more
    than once.
    """
    for pause in PAUSES:
        try:
            return _once(store, work)
        except DatabaseProblem as problem:
            time.sleep(pause_after(problem, pause))
    return _once(store, work)


def _once(store: Store, work: Callable[[Session], T]) -> T:
    with store.write() as session:
        return work(session)


def pause_after(problem: DatabaseProblem, seconds: float) -> float:
    """How long to pause before the transaction is repeated. Raise any problem that is not a conflict."""
    if getattr(problem.__cause__, "sqlstate", None) not in CONFLICTS:
        raise problem
    return seconds

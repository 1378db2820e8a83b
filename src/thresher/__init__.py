"""Thresher turns web sources into clean, deduplicated, evidenced records.

These names are all that an app needs, and `Client` is for programs that use the queue.
"""

import importlib
import typing

from thresher.core.answer import Answer, By, Extract
from thresher.core.backoff import Retry
from thresher.core.context import Context
from thresher.core.credentials import Credentials
from thresher.core.errors import (
    Blocked,
    BudgetExhausted,
    NotYet,
    Permanent,
    RateLimited,
    TaskError,
    Transient,
    Unauthorized,
)
from thresher.core.event import Event
from thresher.core.evidence import Evidence, Material, Place
from thresher.core.group import Group, GroupStatus, Run, Stop
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Effect, Failed, Filtered, Next, Outcome, Skipped, Snooze
from thresher.core.page import Page, Verdict
from thresher.core.pipeline import App, Pipeline, Schedule, Source, Stage
from thresher.core.record import Link, Record
from thresher.core.schema import Field, Kind, Schema
from thresher.core.task import NewTask, Task, TaskStatus

if typing.TYPE_CHECKING:
    from thresher.admin.tasks import Added
    from thresher.client import AsyncClient, Client

# Loaded when they are asked for: they bring the store along, and an app needs none of it.
_LAZY = {"Added": "thresher.admin.tasks", "AsyncClient": "thresher.client", "Client": "thresher.client"}

__all__ = [
    "Added",
    "Answer",
    "App",
    "AsyncClient",
    "Blocked",
    "BudgetExhausted",
    "By",
    "Client",
    "Context",
    "Credentials",
    "Done",
    "Effect",
    "Event",
    "Evidence",
    "Extract",
    "Failed",
    "Field",
    "Filtered",
    "Group",
    "GroupStatus",
    "Kind",
    "Link",
    "Material",
    "NewTask",
    "Next",
    "NotYet",
    "Outcome",
    "Page",
    "Permanent",
    "Pipeline",
    "Place",
    "RateLimited",
    "Record",
    "Retry",
    "Run",
    "Schedule",
    "Schema",
    "Skipped",
    "Snooze",
    "Source",
    "Stage",
    "Stop",
    "Task",
    "TaskError",
    "TaskStatus",
    "Transient",
    "Unauthorized",
    "Verdict",
    "host_gate",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version(
            "thresher"
        )  # slow to import, and rarely asked for
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'thresher' has no attribute {name!r}")

"""Thresher turns web sources into clean, deduplicated, evidenced records.

These names are all that an app needs.
"""

from thresher.core.context import Context
from thresher.core.errors import Blocked, NotYet, Permanent, RateLimited, TaskError, Transient, Unauthorized
from thresher.core.host import host_gate
from thresher.core.outcome import Done, Failed, Filtered, Next, Outcome, Skipped, Snooze
from thresher.core.page import Page
from thresher.core.pipeline import App, Pipeline, Schedule, Source, Stage
from thresher.core.record import Link, Record
from thresher.core.task import NewTask, Task

__all__ = [
    "App",
    "Blocked",
    "Context",
    "Done",
    "Failed",
    "Filtered",
    "Link",
    "NewTask",
    "Next",
    "NotYet",
    "Outcome",
    "Page",
    "Permanent",
    "Pipeline",
    "RateLimited",
    "Record",
    "Schedule",
    "Skipped",
    "Snooze",
    "Source",
    "Stage",
    "Task",
    "TaskError",
    "Transient",
    "Unauthorized",
    "host_gate",
]

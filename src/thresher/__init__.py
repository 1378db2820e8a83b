"""Thresher turns web sources into clean, deduplicated, evidenced records.

This is the public API: all that an app needs, and `Client` for programs that use the queue. Each name is
imported on first use, so that `--help` stays fast.
"""

import importlib
import typing

if typing.TYPE_CHECKING:
    from thresher.admin.explain import Explanation
    from thresher.admin.tasks import Added
    from thresher.client import AsyncClient, Client
    from thresher.core.answer import By, Extract, ModelAnswer
    from thresher.core.app import App
    from thresher.core.backoff import Retry
    from thresher.core.context import Context
    from thresher.core.credentials import Credentials
    from thresher.core.errors import (
        Blocked,
        BudgetExhausted,
        InvalidPayload,
        InvalidUrl,
        NotAllowed,
        NotClickable,
        NotYet,
        Permanent,
        RateLimited,
        TaskError,
        Transient,
        Unauthorized,
        UnknownName,
        UsageError,
    )
    from thresher.core.event import Event, NewEvent
    from thresher.core.evidence import Evidence, Material, Place
    from thresher.core.extension import Check, Command, Demo, DemoRun, Export
    from thresher.core.group import Group, GroupStatus, Run, Stop
    from thresher.core.keys import host_gate
    from thresher.core.outcome import Done, Effect, Failed, Filtered, Next, Outcome, Skipped, Snooze
    from thresher.core.page import Page, Verdict
    from thresher.core.pipeline import Pipeline, Schedule, Source, Stage
    from thresher.core.record import Link, Record
    from thresher.core.rendering import Click, Collect, Rendering, Wait
    from thresher.core.schema import Field, Kind, Schema
    from thresher.core.setting import Setting, guarded, tunable
    from thresher.core.task import NewTask, Task, TaskStatus
    from thresher.core.template import ProjectDraft, ProjectQuestion, Template
    from thresher.web.pages.page import DashboardPage as DashboardPage
    from thresher.web.pages.page import PageRequest as PageRequest
    from thresher.web.route import Route as Route

_HOMES = {
    "Added": "thresher.admin.tasks",
    "App": "thresher.core.app",
    "AsyncClient": "thresher.client",
    "Blocked": "thresher.core.errors",
    "BudgetExhausted": "thresher.core.errors",
    "By": "thresher.core.answer",
    "Check": "thresher.core.extension",
    "Click": "thresher.core.rendering",
    "Client": "thresher.client",
    "Collect": "thresher.core.rendering",
    "Command": "thresher.core.extension",
    "Context": "thresher.core.context",
    "Credentials": "thresher.core.credentials",
    "Demo": "thresher.core.extension",
    "DemoRun": "thresher.core.extension",
    "Done": "thresher.core.outcome",
    "Effect": "thresher.core.outcome",
    "Event": "thresher.core.event",
    "Evidence": "thresher.core.evidence",
    "Explanation": "thresher.admin.explain",
    "Export": "thresher.core.extension",
    "Extract": "thresher.core.answer",
    "Failed": "thresher.core.outcome",
    "Field": "thresher.core.schema",
    "Filtered": "thresher.core.outcome",
    "Group": "thresher.core.group",
    "GroupStatus": "thresher.core.group",
    "Highlight": "thresher.core.extension",
    "InvalidPayload": "thresher.core.errors",
    "InvalidUrl": "thresher.core.errors",
    "Kind": "thresher.core.schema",
    "Link": "thresher.core.record",
    "Material": "thresher.core.evidence",
    "ModelAnswer": "thresher.core.answer",
    "NewEvent": "thresher.core.event",
    "NewTask": "thresher.core.task",
    "Next": "thresher.core.outcome",
    "NotAllowed": "thresher.core.errors",
    "NotClickable": "thresher.core.errors",
    "NotYet": "thresher.core.errors",
    "Outcome": "thresher.core.outcome",
    "Page": "thresher.core.page",
    "Permanent": "thresher.core.errors",
    "Pipeline": "thresher.core.pipeline",
    "Place": "thresher.core.evidence",
    "ProjectDraft": "thresher.core.template",
    "ProjectQuestion": "thresher.core.template",
    "RateLimited": "thresher.core.errors",
    "Record": "thresher.core.record",
    "Rendering": "thresher.core.rendering",
    "Retry": "thresher.core.backoff",
    "Run": "thresher.core.group",
    "Schedule": "thresher.core.pipeline",
    "Schema": "thresher.core.schema",
    "Setting": "thresher.core.setting",
    "Skipped": "thresher.core.outcome",
    "Snooze": "thresher.core.outcome",
    "Source": "thresher.core.pipeline",
    "Stage": "thresher.core.pipeline",
    "Stop": "thresher.core.group",
    "Task": "thresher.core.task",
    "TaskError": "thresher.core.errors",
    "TaskStatus": "thresher.core.task",
    "Template": "thresher.core.template",
    "Transient": "thresher.core.errors",
    "Unauthorized": "thresher.core.errors",
    "UnknownName": "thresher.core.errors",
    "UsageError": "thresher.core.errors",
    "Verdict": "thresher.core.page",
    "Wait": "thresher.core.rendering",
    "guarded": "thresher.core.setting",
    "host_gate": "thresher.core.keys",
    "tunable": "thresher.core.setting",
}
# These import the web stack, which takes a while, so `from thresher import *` leaves them out.
_WEB = {
    "DashboardPage": "thresher.web.pages.page",
    "PageRequest": "thresher.web.pages.page",
    "Route": "thresher.web.route",
}

__all__ = [
    "Added",
    "App",
    "AsyncClient",
    "Blocked",
    "BudgetExhausted",
    "By",
    "Check",
    "Click",
    "Client",
    "Collect",
    "Command",
    "Context",
    "Credentials",
    "Demo",
    "DemoRun",
    "Done",
    "Effect",
    "Event",
    "Evidence",
    "Explanation",
    "Export",
    "Extract",
    "Failed",
    "Field",
    "Filtered",
    "Group",
    "GroupStatus",
    "Highlight",
    "InvalidPayload",
    "InvalidUrl",
    "Kind",
    "Link",
    "Material",
    "ModelAnswer",
    "NewEvent",
    "NewTask",
    "Next",
    "NotAllowed",
    "NotClickable",
    "NotYet",
    "Outcome",
    "Page",
    "Permanent",
    "Pipeline",
    "Place",
    "ProjectDraft",
    "ProjectQuestion",
    "RateLimited",
    "Record",
    "Rendering",
    "Retry",
    "Run",
    "Schedule",
    "Schema",
    "Setting",
    "Skipped",
    "Snooze",
    "Source",
    "Stage",
    "Stop",
    "Task",
    "TaskError",
    "TaskStatus",
    "Template",
    "Transient",
    "Unauthorized",
    "UnknownName",
    "UsageError",
    "Verdict",
    "Wait",
    "guarded",
    "host_gate",
    "tunable",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("thresher")
    home = _HOMES.get(name) or _WEB.get(name)
    if home is None:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module(home), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__, *_WEB]

"""Events: what happened that a person may want to know of, besides the life of single tasks.

The machine has its own kinds; an app lists its own (`App.events`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Self


class EventKind(StrEnum):
    """The machine's own kinds of events, each with the sentence that describes it."""

    sentence: str

    def __new__(cls, value: str, sentence: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    STALE_SETTLEMENT = (
        "stale_settlement",
        "A worker that had lost its claim tried to settle; nothing was written.",
    )
    WORKER_LOST = "worker_lost", "A worker's lease ended without renewal; its tasks went back to waiting."
    TASK_QUARANTINED = (
        "task_quarantined",
        "A task lost its worker too often and was failed, to protect the others.",
    )
    GATE_PAUSED = (
        "gate_paused",
        "A gate was paused: manually, or because the source asked for it.",
    )
    GATE_RESUMED = "gate_resumed", "A gate was reopened manually."
    GATE_DISABLED = (
        "gate_disabled",
        "A gate was closed until someone enables it: manually, by a bot wall, by bad credentials, or by a webhook's receiver.",
    )
    GATE_TRIPPED = "gate_tripped", "Too many failures in a row: the breaker closed the gate for its cooldown."
    GATE_RECOVERED = "gate_recovered", "The trial after a tripped breaker succeeded; the gate is open again."
    GATE_LIMITED = "gate_limited", "A gate's limits were changed."
    GATE_REPAIRED = (
        "gate_repaired",
        "A gate's counter or timer did not match the running tasks and was corrected.",
    )
    GROUP_ENDED = (
        "group_ended",
        "The last member of a group ended; its follow-up task, if any, was created.",
    )
    GROUP_REPAIRED = "group_repaired", "A group's counters did not match its members and were corrected."
    ROBOTS_WAIVED = (
        "robots_waived",
        "robots.txt is ignored at this gate from now on; the reason is stored.",
    )
    ROBOTS_MINDED = "robots_minded", "robots.txt is obeyed again at this gate."
    LINEAGE_DEEP = (
        "lineage_deep",
        "A lineage has grown deeper than lineage.alert_depth; told once for each lineage, with its root.",
    )
    MONEY_ASSUMED = (
        "money_assumed",
        "A model call never reported its cost, so the whole amount reserved for it counts as spent.",
    )
    MONEY_OVERSPENT = (
        "money_overspent",
        "A model call cost more than was reserved for it; its real cost is counted.",
    )
    LEDGER_REPAIRED = (
        "ledger_repaired",
        "The counters of a budget did not match its calls and were corrected.",
    )
    READING_STOPPED = (
        "reading_stopped",
        "Reading a page took too much time or memory; its process was killed.",
    )
    EXTRACTOR_LEARNED = (
        "extractor_learned",
        "A site was learned, or learned again; from now on it is read without a model.",
    )
    EXTRACTOR_DOUBTED = (
        "extractor_doubted",
        "A site no longer looks the way it did when it was learned; its extractor is no longer used.",
    )
    EXTRACTOR_REFUSED = (
        "extractor_refused",
        "A site could not be learned from its examples; the reason says what would help.",
    )
    KEY_DISABLED = "key_disabled", "An API key was switched off: every server refuses it until it is enabled."
    KEY_ENABLED = "key_enabled", "An API key that was switched off works again."
    KEY_REVOKED = "key_revoked", "An API key was revoked; it never works again."


# What an app may subscribe to besides: these have rows of their own and are no events.
TASK_ENDED, TASK_FAILED, SPAWN_REFUSED = "task_ended", "task_failed", "spawn_refused"
# What an app may subscribe to wherever it runs.
SUBSCRIBABLE = (TASK_ENDED, TASK_FAILED, SPAWN_REFUSED, *EventKind)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as a subscriber receives it. `at` is in microseconds since 1970."""

    kind: str
    at: int
    task_id: int | None = None
    gate: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event as a stage asks for it: one of the kinds that its own app lists (`App.events`), and details as
    JSON. It is written with the settlement, and names the task. With `warns` it is also logged as a warning.
    """

    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    warns: bool = False


class CheckedEvent(NamedTuple):
    """Such an event of a kind that is known, its details written out."""

    kind: str
    detail: str
    warns: bool = False

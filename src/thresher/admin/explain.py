"""Why something is as it is: an app says what it knows of a thing, the queue what it knows of a task."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from thresher.admin.events import in_words
from thresher.admin.rows import Fields, TaskFields
from thresher.admin.runs import run_ending
from thresher.admin.tasks import TaskDetail, Written, last_message, list_tasks, show_task
from thresher.core.app import App
from thresher.core.clock import SECOND, span
from thresher.core.errors import InvalidUrl, UnknownName
from thresher.core.task import State
from thresher.core.trace import split_trace
from thresher.store.store import Store

MAX_RESULT = 2_000  # characters of a result that are shown
# Of these, so many are told one by one.
MAX_ATTEMPTS, MAX_RECORDS_TOLD, MAX_REFUSALS, MAX_NAMES = 10, 10, 50, 10


@dataclass(frozen=True, slots=True)
class Explanation:
    """What something is, what became of it, and why, sentence by sentence. `decision` is what the sentences
    were made from.
    """

    kind: str
    key: str
    title: str
    outcome: str
    sentences: list[str]
    decision: dict[str, Any] | None
    tasks: list[TaskFields]


def explain(store: Store, apps: Iterable[App], what: str, task: TaskDetail | None = None) -> Explanation:
    """Why a thing is as it is, by its key, its URL or the id of its task. The apps are asked first. `task` is
    the task of that id, if it has been read already.
    """
    if task is None and what.isascii() and what.isdecimal():
        task = show_task(store, int(what))
    for app in apps:
        for tell in app.explain:
            found = tell(store, what)
            if isinstance(found, Explanation):
                return found
    task = task or _about_url(store, what)
    if task is None:
        raise UnknownName(
            f"{what[:80]!r} is not a task, and no app of this project knows it; see thresher tasks "
            "list and thresher records"
        )
    return _of_task(task)


def _about_url(store: Store, what: str) -> TaskDetail | None:
    """The newest task about an address."""
    try:
        found = list_tasks(store, url=what, limit=1)
    except InvalidUrl:
        return None
    return show_task(store, found[0]["id"]) if found else None


def _of_task(detail: TaskDetail) -> Explanation:
    task = detail.task
    title = f"{task['kind']} {task['url'] or task['dedupe_key'] or ''}".strip()
    return Explanation("task", str(task["id"]), title, task["state"], told(detail), None, [task])


def told(detail: TaskDetail) -> list[str]:
    """What the queue knows of a task, sentence by sentence: how it stands and where an error was raised, what
    it waits for, how earlier attempts went, what it brought, what was refused, and how its run ended.
    """
    task = detail.task
    said, frames = split_trace(last_message(task))
    found = [f"The task {State(task['state']).phrase}{f': {said}' if said else '.'}"]
    found += raised(frames)
    found += detail.waits
    if detail.result is not None:
        found.append(f"Its result: {in_words(detail.result)[:MAX_RESULT]}.")
    found += map(attempt_sentence, _earlier(detail)[-MAX_ATTEMPTS:])
    found += brought(detail)
    if detail.run and (sentence := run_sentence(detail.run)):
        found.append(sentence)
    return found


def _earlier(detail: TaskDetail) -> list[Fields]:
    """The attempts that the task itself no longer tells of."""
    task = detail.task
    return [each for each in detail.attempts if each["claim"] != task["claim"] or not task["finished_at"]]


def earlier_traces(detail: TaskDetail) -> list[str]:
    """Where the errors of earlier attempts were raised; that of the last one stands with the task."""
    framed = [(each, split_trace(last_message(each))[1]) for each in _earlier(detail)[-MAX_ATTEMPTS:]]
    return [f"Attempt {each['claim']}: {sentence}" for each, frames in framed for sentence in raised(frames)]


def brought(detail: TaskDetail) -> list[str]:
    """What a task wrote, with the evidence, and what it was refused."""
    found = [record_sentence(each) for each in detail.records[:MAX_RECORDS_TOLD]]
    if len(detail.records) > MAX_RECORDS_TOLD:
        found.append(f"It wrote {len(detail.records)} records or more in all.")
    found += [refusal_sentence(each) for each in detail.refusals[:MAX_REFUSALS]]
    if len(detail.refusals) > MAX_REFUSALS:
        found.append(f"{len(detail.refusals)} spawns or more were refused in all.")
    return found


def run_sentence(run: Fields) -> str | None:
    """How a run ended, if it has said so."""
    ending = run_ending(run)
    return f"Its run {run['id']} ({run['name']}) ended: {ending}." if ending else None


def raised(frames: list[str]) -> list[str]:
    """Where in the code of an app an error was raised: the end of its traceback."""
    return [
        f"It was raised at {frame}" if at == 0 else f"It was called from {frame}"
        for at, frame in enumerate(frames)
    ]


def attempt_sentence(attempt: Fields) -> str:
    """How one attempt went."""
    said, frames = split_trace(last_message(attempt))
    began, ended = attempt["started_at"], attempt["ended_at"]
    took = f" after {span((ended - began) / SECOND)}" if began else ""
    where = f", at {frames[0]}" if frames else ""
    about = f": {said}{where}" if said else ""
    return f"Attempt {attempt['claim']} (stage {attempt['stage']}) ended as {attempt['ending']}{took}{about}"


def record_sentence(record: Written) -> str:
    """What a task wrote, and which of its values have evidence."""
    about = f"It {'wrote' if record.is_new else 'updated'} the {record.kind} {record.key}"
    if not record.evidence:
        return about
    missing = [name for name, quote in record.evidence.items() if quote is None]
    unverified = f"; unverified: {', '.join(missing[:MAX_NAMES])}" if missing else ""
    return f"{about}: {record.verified} of {len(record.evidence)} values have evidence{unverified}"


def refusal_sentence(refusal: Fields) -> str:
    """Which spawn was refused, and by which rule."""
    return f"Refused: {refusal['kind']} {refusal['url'] or refusal['key'] or ''} ({refusal['rule']}: {refusal['detail']})"

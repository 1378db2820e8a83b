"""Explain the decisions about a posting, a company or a board: the rule, its points and its quote."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.admin.explain import Explanation
from thresher.admin.records import maybe
from thresher.admin.rows import Fields
from thresher.admin.tasks import list_tasks, show_task
from thresher.apps.hiring.postings import find_posting
from thresher.apps.jobs.model import DECISION, MATCH, DecisionRecord, MatchRecord
from thresher.core.errors import InvalidUrl, UnknownName
from thresher.core.record import Found
from thresher.core.stored import written
from thresher.core.task import State
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.records import BoardRecord, CompanyRecord, PostingRecord, ScorePart, TriedAddress
from thresher.store.store import Store

MAX_TASKS = 20


def explain(store: Store, what: str) -> Explanation | None:
    """Why a posting or match, a company or a board is as it is, by its key, by the URL of a posting or by the
    id of its task. None: it is nothing of ours.
    """
    if what.isascii() and what.isdecimal():
        return _task(store, int(what))
    for kind, explained in ((POSTING, _posting), (DECISION, _posting), (COMPANY, _company), (BOARD, _board)):
        if found := maybe(store, kind, what):
            return explained(store, found)
    posting = find_posting(store, what)
    return _posting(store, posting) if posting else None


def _task(store: Store, task_id: int) -> Explanation | None:
    """A task is explained by what it is about."""
    task = show_task(store, task_id).task
    key = task["payload"].get("posting") or task["payload"].get("board") or task["dedupe_key"]
    for kind, explained in _ABOUT.get(task["kind"], ()):
        if key and (found := maybe(store, kind, str(key))):
            return replace(explained(store, found), tasks=[task])
    return None


def _posting(store: Store, found: Found) -> Explanation:
    decision, match = maybe(store, DECISION, found.key), maybe(store, MATCH, found.key)
    posting = maybe(store, POSTING, found.key)
    said = PostingRecord.of(posting) if posting else PostingRecord(found.key)
    title = ", ".join(word for word in (said.title or said.url or found.key, said.company_name) if word)
    tasks = _tasks(store, said.url, [each for each in (posting, decision, match) if each])
    sentences = list(_of_posting(said)) + (
        _sentences(DecisionRecord.of(decision)) if decision else _undecided(store, tasks)
    )
    if match:
        sentences += _of_match(MatchRecord.of(match))
    outcome = str(DecisionRecord.of(decision).outcome) if decision else "undecided"
    return Explanation(
        POSTING,
        found.key,
        title,
        outcome,
        sentences,
        dict(decision.data) if decision else None,
        tasks,
    )


def _undecided(store: Store, tasks: Sequence[Fields]) -> list[str]:
    """What is known of a posting that was not judged: how far its newest task has come, and what it waits
    for.
    """
    if not tasks:
        return ["It has not been judged yet."]
    last = show_task(store, tasks[0]["id"])
    why = f": {last.task['reason']}" if last.task["reason"] else ""
    return [
        f"It has not been judged yet. Task {last.task['id']} {State(last.task['state']).phrase}{why}",
        *last.waits,
    ]


def _sentences(decision: DecisionRecord) -> list[str]:
    from thresher.apps.jobs.decision import explain as told  # noqa: PLC0415  the words are the app's

    return list(told(decision))


def _of_match(match: MatchRecord) -> Iterator[str]:
    if match.withdrawn:
        yield f"It was a match once, and is no match any more: {match.withdrawn}"
    if isinstance(match.resume_intake, Mapping):
        for name, value in match.resume_intake.items():
            words = ", ".join(map(str, value)) if isinstance(value, list) else value
            if words:
                yield f"For your application, {name.replace('_', ' ')}: {words}"
    yield f"You marked it as {match.status}."


def _of_posting(posting: PostingRecord) -> Iterator[str]:
    if posting.group:
        yield (
            f"It is one of a group of postings of the same opening ({posting.group}); thresher postings "
            "show lists them."
        )
    if posting.state == "closed":
        yield "Its board does not list it any more."


def _company(store: Store, found: Found) -> Explanation:
    company = CompanyRecord.of(found)
    said = company_parts(company) or ["It has no points: no rule found anything."]
    if company.excluded:
        said = [_excluded(company.excluded), *said]
    total = (
        f"{company.score or 0} points make tier {company.tier}."
        if company.tier
        else "It has not been ranked yet."
    )
    return Explanation(
        COMPANY,
        found.key,
        company.name or found.key,
        str(company.status),
        [*said, total],
        {"score_parts": written(company.score_parts)},
        _tasks(store, company.website, [found]),
    )


def _board(store: Store, found: Found) -> Explanation:
    board = BoardRecord.of(found)
    look = board.last_look
    owner = board.company_name or board.company or "nobody we know"
    said = [f"It belongs to {owner}: {board.proof or 'no proof is kept'}"]
    if board.confidence:
        said.append(f"Confidence {board.confidence}, found by {board.method}.")
    seen = f"Last look: {look.verdict}. {look.reason or ''}".strip() if look else None
    said.append(seen or "Nobody has looked at it yet.")
    if board.excluded:
        said.append(_excluded(board.excluded))
    if board.status == "disabled":
        said.append(f"Disabled ({board.disabled_tag}): {board.disabled_reason}")
    said += [f"Alarm: {each}" for each in board.alarms]
    said += [_tried(each) for each in board.tried]
    return Explanation(
        BOARD,
        found.key,
        board.url or found.key,
        str(board.status),
        said,
        None,
        _tasks(store, board.url, [found]),
    )


def _excluded(reason: str) -> str:
    return f"Nothing of it is requested: {reason}. Change `excluded` in the profile to read it again."


def company_parts(company: CompanyRecord) -> list[str]:
    """The score of a company, rule by rule, as sentences."""
    return [_part(each) for each in company.score_parts]


def _part(part: ScorePart) -> str:
    """One rule of a company's score: what it brought, why, and the words that say so."""
    why = f": {part.note}" if part.note else ""
    quote = f" - '{' '.join(part.quote.split())}'" if part.quote else ""
    return f"{part.points:+} {part.rule}{why}{quote}"


def _tried(tried: TriedAddress) -> str:
    rest = ", ".join(
        f"{name} {value}"
        for name, value in written(tried).items()
        if name not in ("method", "url") and value != ""
    )
    return f"TriedAddress {tried.url} ({tried.method}): {rest or 'no result'}"


def _tasks(store: Store, url: object, records: Sequence[Found]) -> list[Fields]:
    """The tasks that wrote the records, and those with the same address, the newest first; each once."""
    try:
        same = list_tasks(store, url=str(url), limit=MAX_TASKS) if url else []
    except InvalidUrl:  # it was written by strangers
        same = []
    found = {task["id"]: task for task in same}
    for task_id in {each for record in records for each in (record.first_task, record.last_task)} - {
        0,
        *found,
    }:
        try:
            found[task_id] = show_task(store, task_id).task
        except UnknownName:
            continue  # its lineage was forgotten long ago
    return [found[task_id] for task_id in sorted(found, reverse=True)]


_ABOUT = {
    "job": ((POSTING, _posting), (DECISION, _posting)),
    "company": ((COMPANY, _company),),
    "source_discovery": ((BOARD, _board),),
    "scrape_source": ((BOARD, _board),),
}
EXPLAIN = (explain,)

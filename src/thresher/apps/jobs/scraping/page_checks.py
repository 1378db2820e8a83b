"""Choose the postings whose own page must be fetched, because their list does not say enough. Pure.

    unseen   a feed shows only the newest, and some lists never end: absence from them proves nothing
    unread   a list without descriptions does not show an edited description

The one that has waited longest comes first. A posting counts as checked whatever the result: a page that can
never be read must not displace the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from thresher.apps.jobs.scraping.board_diff import BoardDiff, Marks
from thresher.core.record import Found, Mark, Record
from thresher.core.task import NewTask
from thresher.hiring.lifecycle import CLOSED, LifecycleRules
from thresher.hiring.records import BoardRecord, PostingRecord, posting_entry

NEVER = 0  # of a board with nothing to check


@dataclass(frozen=True, slots=True)
class Terms:
    """How long a posting may go unseen or unread, in microseconds, and how many of each are asked for in one
    look.
    """

    recheck: int
    recheck_batch: int
    reread: int
    reread_batch: int


@dataclass(frozen=True, slots=True)
class Checks:
    """The keys of the postings to ask for, and when the next will have to be.

    `is_doubted`: so many pages are gone at once that another check has to say the same, as in `life`.
    """

    unseen: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    due_at: int = NEVER
    is_doubted: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.unseen, *self.unread)


def after_look(looked: BoardDiff, marks: Marks, terms: Terms, rules: LifecycleRules, least: int) -> Checks:
    """What to check after a look. A row that says no more than `least` characters has its text
    elsewhere.
    """
    own = _open(looked.board.key, marks)
    unseen = (
        {}
        if _proves_absence(looked, terms)
        else {key: each for key, each in own.items() if key not in looked.rows}
    )
    lost = [
        key
        for key, each in unseen.items()
        if each.get("missed") or _since(each) + terms.recheck <= looked.now
    ]
    hidden = {key for key, row in looked.rows.items() if len(row.description or "") <= least}
    calm = {*looked.lives.unchanged, *looked.lives.back} - {*looked.lives.moved}  # all others are read anyway
    unread = _unread({key: own[key] for key in hidden & calm if key in own}, terms, looked.now)
    due_at = unread.due_at or (looked.now + terms.reread if hidden else NEVER)
    doubt = _is_doubtful(unseen.values(), looked.now - terms.recheck, rules)
    return Checks(_longest(lost, own, terms.recheck_batch), unread.unread, due_at, doubt)


def unread_since(board: BoardRecord, marks: Marks, terms: Terms, now: int) -> Checks:
    """What to check where the list is the very one of the last time: it cannot say what has changed behind
    it.
    """
    return _unread(_open(board.key, marks), terms, now)


def _unread(own: Marks, terms: Terms, now: int) -> Checks:
    chosen = _longest(
        (key for key, each in own.items() if _since(each) + terms.reread <= now), own, terms.reread_batch
    )
    taken = set(chosen)
    waiting = [now if key in taken else _since(each) for key, each in own.items()]
    return Checks(unread=chosen, due_at=min(waiting) + terms.reread if waiting else NEVER)


def is_due(board: BoardRecord, now: int) -> bool:
    """Whether a board may have something unread, by what the last look at it wrote down."""
    return board.checks_due != NEVER and board.checks_due <= now


def records(checks: Checks, now: int) -> Iterable[Record]:
    return (posting_entry(key, {"checked_at": now}) for key in checks.keys)


def tasks(checks: Checks, found: Sequence[Found]) -> tuple[NewTask, ...]:
    """A task for each that has an address. It is known by its key alone: several postings may share one
    page.
    """
    unseen = set(checks.unseen)
    urls = {each.key: PostingRecord.of(each).url for each in found}
    wanted = [(key, urls[key]) for key in checks.keys if urls.get(key)]
    how = {"check": True, "doubted": checks.is_doubted}
    return tuple(
        NewTask("job", {**how, "posting": key, "listed": key not in unseen, "fetch": url}, key=key)
        for key, url in wanted
    )


def _is_doubtful(unseen: Iterable[Mapping[str, Mark]], since: int, rules: LifecycleRules) -> bool:
    """Whether too many of those that were checked of late are gone: rather a site in trouble than so many
    closings.
    """
    checked = [bool(each.get("missed")) for each in unseen if int(each.get("checked_at") or 0) >= since]
    return sum(checked) > rules.few and sum(checked) > rules.share * len(checked)


def _open(board: str, marks: Marks) -> Mapping[str, Mapping[str, Mark]]:
    return {
        key: each
        for key, each in marks.items()
        if each.get("state") != CLOSED and each.get("board", board) == board
    }


def _since(marks: Mapping[str, Mark]) -> int:
    return max(int(marks.get("seen_at") or 0), int(marks.get("checked_at") or 0))


def _longest(keys: Iterable[str], own: Marks, number: int) -> tuple[str, ...]:
    return tuple(sorted(keys, key=lambda key: (_since(own[key]), key))[:number])


def _proves_absence(looked: BoardDiff, terms: Terms) -> bool:
    """Whether what is not there is known to be gone: by this look, or by another that is not long ago."""
    return looked.tally.complete or looked.now - looked.board.completed_at < terms.recheck

"""What has been checked so far, so that an empty list says whether nothing was found or nothing was
checked.
"""

from dataclasses import dataclass

from thresher.admin.records import count
from thresher.core.record import Between, Is
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class Checked:
    """How far the search has come: `looked_at` are boards that were visited at least once, `judged` postings
    with a decision.
    """

    companies: int
    boards: int
    pending: int
    disabled: int
    looked_at: int
    postings: int
    filtered: int
    skipped: int
    saved: int
    unknown: int
    profile: bool

    @property
    def judged(self) -> int:
        return self.filtered + self.skipped + self.saved + self.unknown


def what_was_checked(store: Store) -> Checked:
    """The state of the search, in numbers."""
    outcomes = {
        name: count(store, "decision", where=[Is("outcome", name)])
        for name in ("filtered", "skipped", "saved", "unknown")
    }
    status = {name: count(store, BOARD, where=[Is("status", name)]) for name in ("pending", "disabled")}
    return Checked(
        companies=count(store, COMPANY),
        boards=count(store, BOARD),
        **status,
        looked_at=count(store, BOARD, where=[Between("scraped_at", low=1)]),
        postings=count(store, POSTING),
        **outcomes,
        profile=count(store, "profile") > 0,
    )


def none_yet(checked: Checked, what: str) -> str:
    """Why there is nothing to show of a kind, and what to do about it."""
    return _REASONS[what](checked)


def _companies(_: Checked) -> str:
    return "No companies have been added. Add one with: thresher add company acme.com"


def _boards(checked: Checked) -> str:
    if not checked.companies:
        return "No boards: no company has been added yet. Add one with: thresher add company acme.com"
    return (
        f"No boards: {_are(checked.companies, 'company', 'companies')} known, but no board was found "
        "yet. thresher status shows whether work is left; to add a board that you know: thresher "
        "add board URL"
    )


def _postings(checked: Checked) -> str:
    if not checked.boards:
        return _boards(checked).replace("No boards", "No postings", 1)
    if not checked.looked_at:
        waiting = (
            f"; waiting for your decision: {checked.pending:,} (thresher boards list --status pending)"
            if checked.pending
            else ""
        )
        return f"No postings yet. {_are(checked.boards, 'board')} known, but none has been read{waiting}."
    return (
        f"No postings. Boards that were read: {checked.looked_at:,}. thresher boards list shows what was "
        "found."
    )


def _matches(checked: Checked) -> str:
    if not checked.postings:
        return _postings(checked).replace("No postings", "No matches", 1)
    advice = (
        ""
        if checked.profile
        else " There is no profile to judge them by: thresher jobs profile set FILE, then thresher jobs judge"
    )
    if not checked.judged:
        return f"No matches yet. {_are(checked.postings, 'posting')} known, but none has been judged.{advice}"
    return (
        f"No matches. Postings that were judged: {checked.judged:,}; filtered {checked.filtered:,}, "
        f"skipped {checked.skipped:,}, unknown {checked.unknown:,}. thresher explain KEY shows why.{advice}"
    )


def _are(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one} is" if number == 1 else f"{number:,} {many or one + 's'} are"


_REASONS = {"companies": _companies, "boards": _boards, "postings": _postings, "matches": _matches}

"""What a person decides about a company: its resolution, whether the model was right, and notes. Each change
is written down with who made it, and no computation ever writes these.
"""

from dataclasses import dataclass
from typing import Any

from thresher.apps.queries.signals.rules import RESOLUTIONS, Resolutions
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import clean
from thresher.store.session import Session, one

FEEDBACK = ("OK", "FP", "FN")  # the model was right; found what is none; missed one
MAX_NOTES = 5_000  # characters
MAX_BY = 200

_FIND = "select resolution, resolved, feedback, notes from company_signals where company = :company"
_RESOLVE = """update company_signals set resolution = :new, resolved = :resolved, resolution_at = :now, dirty = :dirty
    where company = :company"""
_HELD = "update query_offers set held = :held where company = :company and held <> :held"
_FEEDBACK = "update company_signals set feedback = :new where company = :company"
_NOTES = "update company_signals set notes = :new where company = :company"
_WRITE = """insert into company_feedback (company, field, old, new, by, at)
    values (:company, :field, :old, :new, :by, :now)"""
_HISTORY = "select field, old, new, by, at from company_feedback where company = :company order by id"


@dataclass(frozen=True, slots=True)
class Decision:
    """One change of what a person decides, from `company_feedback`."""

    field: str
    old: str | None
    new: str | None
    by: str
    at: int


def set_resolution(
    session: Session,
    company: str,
    resolution: str,
    by: str,
    now: int,
    allowed: Resolutions = RESOLUTIONS,
) -> bool:
    """Decide about a company; False where it is decided so already.

    A resolved company keeps its figures, and its offers are no longer scored. An active one that was resolved
    is computed again, and its offers that came in meanwhile are scored.
    """
    known = (*allowed.active, *allowed.resolved)
    if resolution not in known:
        raise UsageError(f"{resolution!r} is not a resolution; use one of {', '.join(known)}")
    old, resolved, _, _ = _find(session, company)
    is_resolved = resolution in allowed.resolved
    if (resolution, is_resolved) == (old, bool(resolved)):
        return False
    session.run(
        _RESOLVE,
        {
            "new": resolution,
            "resolved": int(is_resolved),
            "dirty": int(not is_resolved),
            "now": now,
            "company": company,
        },
    )
    session.run(_HELD, {"held": int(is_resolved), "company": company})
    _write(session, company, "resolution", old, resolution, by, now)
    return True


def set_feedback(session: Session, company: str, feedback: str | None, by: str, now: int) -> bool:
    """Say whether the model was right about a company; False where that was said already."""
    if feedback is not None and feedback not in FEEDBACK:
        raise UsageError(f"{feedback!r} is not feedback; use OK, FP (false positive) or FN (false negative)")
    old = _find(session, company)[2]
    if feedback == old:
        return False
    session.run(_FEEDBACK, {"new": feedback, "company": company})
    _write(session, company, "feedback", old, feedback, by, now)
    return True


def set_notes(session: Session, company: str, notes: str | None, by: str, now: int) -> bool:
    """Keep notes about a company; False where they are the same."""
    said = clean(notes).strip() or None if notes else None
    if said and len(said) > MAX_NOTES:
        raise UsageError(f"notes have {len(said):,} characters; the limit is {MAX_NOTES:,}")
    old = _find(session, company)[3]
    if said == old:
        return False
    session.run(_NOTES, {"new": said, "company": company})
    _write(session, company, "notes", old, said, by, now)
    return True


def decisions_of(session: Session, company: str) -> list[Decision]:
    """What was decided about a company, the oldest first."""
    return [Decision(*row) for row in session.rows(_HISTORY, {"company": company})]


def _find(session: Session, company: str) -> tuple[Any, ...]:
    row = one(session, _FIND + session.dialect.lock, {"company": company})
    if row is None:
        raise UnknownName(
            f"there is no company {company!r}; its key is its domain, or its name in lower case"
        )
    return row


def _write(
    session: Session, company: str, field: str, old: str | None, new: str | None, by: str, now: int
) -> None:
    given = {"company": company, "field": field, "old": old, "new": new, "by": clean(by)[:MAX_BY], "now": now}
    session.run(_WRITE, given)

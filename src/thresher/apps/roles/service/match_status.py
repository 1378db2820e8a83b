"""What a person makes of a candidate's match: it is theirs, and no later matching changes it."""

from dataclasses import dataclass
from shlex import quote

from thresher.apps.roles.candidate import CANDIDATE
from thresher.apps.roles.store.matches import STATUSES, find_match, set_match_status
from thresher.apps.roles.store.transaction import in_transaction
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import clean
from thresher.hiring.kinds import POSTING
from thresher.store.records import find_record
from thresher.store.session import Session
from thresher.store.store import Store

MAX_NOTE = 4_000
MAX_DIGITS = 19


@dataclass(frozen=True, slots=True)
class PairStatus:
    """A match whose status was set."""

    candidate: str
    posting_id: int
    was: str
    status: str
    note: str | None


def set_pair_status(
    store: Store, key: str, posting: int | str, status: str, note: str | None = None
) -> PairStatus:
    """Say what was done about a match of a candidate. A posting is named by its key, or by the id of its
    record.
    """
    if status not in STATUSES:
        raise UsageError(f"a match is {', '.join(STATUSES)}; got {status[:40]!r}")
    if note is not None and len(note) > MAX_NOTE:
        raise UsageError(f"a note has at most {MAX_NOTE:,} characters; this one has {len(note):,}")
    said = None if note is None else clean(note.strip())

    def write(session: Session) -> PairStatus:
        candidate_id, posting_id = pair_ids(session, key, posting)
        known = find_match(session, candidate_id, posting_id)
        if known is None or not set_match_status(session, candidate_id, posting_id, status, said):
            raise UnknownName(
                f"{key!r} has no match with posting {posting}; thresher candidates matches {quote(key)} shows what there is"
            )
        return PairStatus(
            clean(key), posting_id, known.status, status, said if said is not None else known.note
        )

    return in_transaction(store, write)


def pair_ids(session: Session, key: str, posting: int | str) -> tuple[int, int]:
    """The records that are meant by the key of a candidate and the key or id of a posting."""
    candidate = find_record(session, CANDIDATE, clean(key))
    if candidate is None:
        raise UnknownName(f"there is no candidate {key!r}; thresher candidates list shows them")
    if isinstance(posting, int):
        return candidate.id, posting
    found = find_record(session, POSTING, clean(posting))
    if found is None:
        raise UnknownName(
            f"there is no posting {posting!r}; thresher candidates matches {quote(key)} shows those that suit"
        )
    return candidate.id, found.id


def posting_named(text: str) -> int | str:
    """A posting as a person names it: the key of its record, which is never a bare number, or the id of
    it.
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MAX_DIGITS else text

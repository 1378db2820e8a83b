"""Who needs a body that a stage saved: the lineage of the task that saved it, every record that names its
hash, and whatever of its own an app says.

Whoever becomes an owner holds or shares the row of the body in the same transaction. Pruning takes rows that
nobody holds or shares, and only then looks for owners. An owner that goes notes its bodies as loose; they go
`history.bodies` days later, if nobody else needs them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from thresher.core.errors import UnknownName
from thresher.core.limits import MAX_NAME_BYTES
from thresher.store.session import Session

HASH_LENGTH = 64
STAYS = 1  # `saved` of a body that stays in any case
_HEX = re.compile(f"[0-9a-f]{{{HASH_LENGTH},}}")
# A hash covers eight in a row of every eighth character. Most records have none, and those are looked through
# in a twentieth of the time.
_DIGITS = bytes(ord("x") if chr(code) in "0123456789abcdef" else ord(" ") for code in range(256))
_EIGHT_DIGITS = b"x" * 8

_OWN = "insert into blob_owners (hash, kind, owner) values (:hash, :kind, :owner) on conflict do nothing"
_MARK = "update blobs set saved = 3 where hash in (:hashes*) and saved = 0"
# Those that stay in any case need no owner.
_THERE = "select hash from blobs where hash in (:hashes*) and saved <> 1 order by hash"
_OWNED = "select owner, hash from blob_owners where kind = :kind and owner in (:owners*)"
_LOSE = "delete from blob_owners where hash = :hash and kind = :kind and owner = :owner"
_DISOWN = "delete from blob_owners where kind = :kind and owner in (:owners*) returning hash"
_SOME = """select owner, hash from blob_owners where kind = :kind and owner in (:owners*)
    order by owner, hash limit :most"""
_ALL_THERE = "select hash, saved from blobs where hash in (:hashes*) order by hash"
# Written even where it stands: pruning must not settle an old note while the page that a new one is about is
# on its way out.
_LOOSEN = """insert into loose_blobs (hash, since) values (:hash, :since) on conflict (hash) do update
    set since = case when excluded.since > loose_blobs.since then excluded.since else loose_blobs.since end"""


def own(session: Session, kind: str, owned: Sequence[tuple[int, str]]) -> None:
    """Write down owners, each with the hash of a body that the caller holds or shares."""
    session.many(_OWN, [{"hash": name, "kind": kind, "owner": owner} for owner, name in owned])
    mark_owned(session, [name for _, name in owned])


def mark_owned(session: Session, names: Iterable[str]) -> None:
    """Have workers of older versions leave these bodies alone: they know of pages only."""
    session.run(_MARK, {"hashes": sorted(set(names))})


def loosen(session: Session, names: Iterable[str], since: int = 0) -> None:
    """Have pruning look at these bodies: at once, or `history.bodies` days after `since`, when they lost an
    owner.
    """
    session.many(_LOOSEN, [{"hash": name, "since": since} for name in sorted(set(names))])


def hashes_in(*texts: str | None) -> set[str]:
    """Everything in these texts that may be the hash of a body. Where more hexadecimal digits stand in a row,
    their first and last 64.
    """
    said = [text for text in texts if text]
    if not _may_have_hash(said):
        return set()
    runs = [run for text in said for run in _HEX.findall(text)]
    return {name for run in runs for name in (run[:HASH_LENGTH], run[-HASH_LENGTH:])}


def _may_have_hash(texts: Sequence[str]) -> bool:
    sampled = " ".join([text[::8] for text in texts]).encode("utf-8", "replace")
    return _EIGHT_DIGITS in sampled.translate(_DIGITS)


def own_named(session: Session, named: Mapping[int, AbstractSet[str]], now: int) -> None:
    """Make each of these records an owner of the bodies that it names now, and of no others."""
    if not named:
        return
    hashes = sorted(set().union(*named.values()))
    there = {row[0] for row in session.rows(_THERE + session.dialect.share, {"hashes": hashes})}
    had = {(owner, name) for owner, name in session.rows(_OWNED, {"kind": "record", "owners": sorted(named)})}
    has = {(record_id, name) for record_id, names in named.items() for name in names & there}
    if gained := sorted(has - had):
        own(session, "record", gained)
    if lost := sorted(had - has):
        session.many(
            _LOSE, [{"hash": name, "kind": "record", "owner": record_id} for record_id, name in lost]
        )
        loosen(session, [name for _, name in lost], now)


def owners_among(session: Session, kind: str, owners: Sequence[int]) -> list[int]:
    """Those of these that own a body."""
    return sorted({row[0] for row in session.rows(_OWNED, {"kind": kind, "owners": owners})})


def disown(session: Session, kind: str, owners: Sequence[int], now: int) -> int:
    """These owners are gone: their bodies may follow. Return how many they gave up."""
    found = session.rows(_DISOWN, {"kind": kind, "owners": owners}) if owners else []
    loosen(session, [row[0] for row in found], now)
    return len(found)


# Bodies of an app's own rows. The app chooses the number of an owner: the id of a row, or of what many rows
# belong to.
#
# Both are for a transaction that also writes the rows, as an effect does: then no row names a body that is
# gone, and no body is kept for a row that was never written.


def own_bodies(session: Session, app: str, owner: int, hashes: Iterable[str]) -> None:
    """Keep these saved bodies until `disown_bodies` names this owner; safe to repeat. Raise `UnknownName` if
    one is not stored: save it first.
    """
    kind, wanted = app_kind(app), sorted(set(hashes))
    if not wanted:
        return
    there: dict[str, int] = dict(session.rows(_ALL_THERE + session.dialect.share, {"hashes": wanted}))
    if missing := [name for name in wanted if name not in there]:
        raise UnknownName(
            f"no body is stored under {missing[0]}"
            + (f" and {len(missing) - 1:,} more hashes" if missing[1:] else "")
            + f", so app {app} cannot own it; save it with ctx.save in the task that asks for this"
        )
    own(session, kind, [(owner, name) for name in wanted if there[name] != STAYS])


def disown_bodies(
    session: Session, app: str, owners: Sequence[int], now: int, *, limit: int | None = None
) -> int:
    """Give up the bodies of these owners, at most `limit` of them. Those that nobody else needs go
    `history.bodies` days later. Return how many were given up; with a limit, call again while it is reached.
    """
    kind = app_kind(app)
    if limit is None:
        return disown(session, kind, owners, now)
    lost = session.rows(_SOME, {"kind": kind, "owners": owners, "most": limit}) if owners else []
    session.many(_LOSE, [{"hash": name, "kind": kind, "owner": owner} for owner, name in lost])
    loosen(session, [name for _, name in lost], now)
    return len(lost)


def disown_hashes(session: Session, app: str, owner: int, hashes: Iterable[str], now: int) -> None:
    """Give up these bodies of one owner, and leave it the others."""
    kind, lost = app_kind(app), sorted(set(hashes))
    if lost:
        session.many(_LOSE, [{"hash": name, "kind": kind, "owner": owner} for name in lost])
        loosen(session, lost, now)


def app_kind(app: str) -> str:
    """The kind of owner that stands for an app."""
    if not app or len(app) > MAX_NAME_BYTES:
        raise UnknownName(f"{app[:MAX_NAME_BYTES]!r} is not the name of an app")
    return f"app:{app}"

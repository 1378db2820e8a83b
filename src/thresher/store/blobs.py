"""Bodies by their content: the same bytes are stored once, compressed, under their SHA-256.

The column `saved` says who needs one: 0, the pages that name it; 3, also an example, or owners that `owners`
knows; 2, somebody who will say when it may go; 1, it was saved before owners were written down, so it stays.
What somebody needs no more is noted as loose, and pruning looks at those alone. It treats 0 and 3 alike;
workers of a version that knows no owners touch only 0.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from thresher.core.errors import DatabaseProblem, TooLarge, UnknownName
from thresher.core.keys import content_hash
from thresher.core.task import Task
from thresher.core.zstd import zstd
from thresher.store.owners import loosen, own
from thresher.store.session import Session, one
from thresher.store.store import Store

MAX_BODY = 64 * 1024 * 1024
LEVEL = 3

# Locks the row even where nothing changes, so whoever looks whether it may go waits until it is known who
# needs it now.
_LEND = """insert into blobs (hash, size, body, created_at, saved) values (:hash, :size, :body, :now, 2)
    on conflict (hash) do update set saved = 2 where blobs.saved in (0, 3)"""
_LENT = "select hash from blobs where hash = :hash and saved = 2"
_RETURN = "update blobs set saved = 3 where hash = :hash and saved = 2"
_TASK = "select 1 from tasks where id = :task"
_BRING = "insert into blobs (hash, size, body, created_at, saved) values (:hash, :size, :body, :now, 0) on conflict (hash) do nothing"
_HOLD = "select 1 from blobs where hash = :hash"
_GET = "select size, body from blobs where hash = :hash"


@dataclass(frozen=True, slots=True)
class Packed:
    """A body ready to be stored."""

    hash: str
    size: int
    body: bytes


def pack(body: bytes) -> Packed:
    """Name and compress a body. Outside of any transaction: nobody should wait for it."""
    if len(body) > MAX_BODY:
        raise TooLarge(f"the body has {len(body):,} bytes; the limit is {MAX_BODY:,}")
    return Packed(content_hash(body), len(body), zstd.compress(body, LEVEL))


def pack_pieces(pieces: Iterable[bytes]) -> Packed:
    """The same for a body that is too large to be held: what is in memory is what is stored."""
    digest, size, packer = hashlib.sha256(), 0, zstd.ZstdCompressor(LEVEL)
    packed = []
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        if size > MAX_BODY:
            raise TooLarge(f"the body has more than {MAX_BODY:,} bytes")
        packed.append(packer.compress(piece))
    return Packed(digest.hexdigest(), size, b"".join([*packed, packer.flush()]))


def save(store: Store, body: bytes, task: Task) -> str:
    """Store a body for the lineage of this task; safe to repeat. Returns its hash."""
    packed = pack(body)  # before the transaction: nobody waits for our compression
    with store.write() as session:
        now, dialect = store.backend.now(session), store.backend.dialect
        is_there = session.rows(_TASK + dialect.share, {"task": task.id})
        hold(session, packed, now, dialect.lock)
        if is_there:
            own(session, "lineage", [(task.tracking_id, packed.hash)])
        else:  # its lineage was removed while the stage went on: nobody would ever give up this owner
            loosen(session, [packed.hash], now)
    return packed.hash


def lend(session: Session, packed: Packed, now: int) -> None:
    """Store a body until it is given back."""
    session.run(_LEND, _values(packed, now))


def lent(session: Session, name: str, lock: str) -> bool:
    """Tell whether this body was lent. From here on it cannot be lent again before this transaction ends."""
    return one(session, _LENT + lock, {"hash": name}) is not None


def give_back(session: Session, name: str) -> None:
    """Return a lent body that is no longer needed: the next pruning removes it, unless it is needed
    elsewhere.
    """
    if session.run(_RETURN, {"hash": name}):
        loosen(session, [name])


def hold(session: Session, packed: Packed, now: int, lock: str) -> None:
    """Make sure that a body exists and is not pruned before the caller commits its reference to it."""
    while not session.run(_BRING, _values(packed, now)) and not session.rows(
        _HOLD + lock, {"hash": packed.hash}
    ):
        pass  # it was there, and was pruned before it could be held


def _values(packed: Packed, now: int) -> dict[str, object]:
    return {"hash": packed.hash, "size": packed.size, "body": packed.body, "now": now}


def get(store: Store, name: str) -> bytes:
    """The body of that hash."""
    with store.read() as session:
        row = one(session, _GET, {"hash": name})
    if row is None:
        raise UnknownName(f"no body is stored under {name}")
    # The size is bounded here: a whole frame would be unpacked to whatever size its own header claims.
    body = zstd.ZstdDecompressor().decompress(bytes(row[1]), row[0])
    if content_hash(body) != name:
        raise DatabaseProblem(f"the body stored under {name} is damaged: its bytes no longer match its hash")
    return body

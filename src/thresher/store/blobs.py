"""Bodies by their content: the same bytes are stored once, compressed, under their SHA-256."""

import zstandard

from thresher.core.errors import DatabaseProblem, TooLarge, UnknownName
from thresher.core.keys import content_hash
from thresher.store.session import one
from thresher.store.store import Store

MAX_BODY = 64 * 1024 * 1024
LEVEL = 3

_PUT = "insert into blobs (hash, size, body, created_at) values (:hash, :size, :body, :now) on conflict (hash) do nothing"
_GET = "select size, body from blobs where hash = :hash"


def put(store: Store, body: bytes) -> str:
    """Store a body; safe to repeat."""
    if len(body) > MAX_BODY:
        raise TooLarge(f"a body of {len(body):,} bytes; the limit is {MAX_BODY:,}")
    name = content_hash(body)
    packed = zstandard.ZstdCompressor(LEVEL).compress(body)
    with store.write() as session:
        session.run(_PUT, {"hash": name, "size": len(body), "body": packed, "now": store.backend.now(session)})
    return name


def get(store: Store, name: str) -> bytes:
    """The body of that hash."""
    with store.read() as session:
        row = one(session, _GET, {"hash": name})
    if row is None:
        raise UnknownName(f"no body is stored under {name}")
    # Read as a stream, because only that is bounded: a whole frame is unpacked to whatever size its own header claims.
    with zstandard.ZstdDecompressor().stream_reader(bytes(row[1])) as reader:
        body = reader.read(row[0])
    if content_hash(body) != name:
        raise DatabaseProblem(f"the body stored under {name} is damaged: its bytes no longer fit their name")
    return body

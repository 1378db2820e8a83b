"""How long a text may be that things are found by, and how large a number: what both databases can keep in an
index.

PostgreSQL takes about 2,700 bytes into one entry of an index. Each limit leaves room for what stands beside
the text in the longest index that it is part of. SQLite would take more; it is held to the same, so that a
queue can move from one database to the other.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from thresher.core.errors import InvalidPayload

MAX_KEY_BYTES = 2_000  # the key of a record, the target of a link, all gates of a lane together
MAX_NAME_BYTES = 200  # kinds and names
MAX_GATE_BYTES = 300
MAX_HOST = 253  # characters: a longer name is in no name server
MAX_INTEGER = 2**63 - 1
MAX_SETTLEMENT_BYTES = (
    128 * 1024 * 1024
)  # all that one attempt brings, and all that one turn settles: PostgreSQL takes 1 GB in a message
SHOWN = 80


def check_text(text: object, what: str, most: int) -> str:
    """The text if it may stand in an index. Refuses anything else, and says so."""
    if not isinstance(text, str):
        raise InvalidPayload(f"{what} must be a text; got {type(text).__name__}")
    size = len(text.encode("utf-8", "replace"))
    if size > most:
        raise InvalidPayload(
            f"{what} has {size:,} bytes; the limit is {most:,}. It begins with {brief(text)!r}"
        )
    return text


def check_integer(number: int, what: str) -> int:
    """The number if both databases can keep it. Refuses any other, and says so."""
    if not -MAX_INTEGER - 1 <= number <= MAX_INTEGER:
        raise InvalidPayload(f"{what} is {brief(number)}; a whole number in the database has at most 64 bits")
    return number


def check_integers(values: Mapping[str, object] | Sequence[object]) -> None:
    """Refuse a whole number that a database cannot keep, anywhere in the values of a statement."""
    named: Iterable[tuple[object, object]] = (
        values.items() if isinstance(values, Mapping) else enumerate(values, 1)
    )
    for name, value in named:
        for each in value if isinstance(value, list | tuple) else (value,):
            if type(each) is int and not -MAX_INTEGER - 1 <= each <= MAX_INTEGER:
                check_integer(each, str(name) if isinstance(name, str) else f"value {name}")


def bounded(key: str) -> str:
    """A key that may stand in an index, whatever it was made of: one that is too long keeps its beginning,
    and a digest of the whole.
    """
    whole = key.encode("utf-8", "replace")
    if len(whole) <= MAX_KEY_BYTES:
        return key
    return f"{whole[:MAX_NAME_BYTES].decode('utf-8', 'ignore')}~{hashlib.sha256(whole).hexdigest()}"


def brief(text: object) -> str:
    """The beginning of a text, for messages."""
    whole = str(text)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}…"

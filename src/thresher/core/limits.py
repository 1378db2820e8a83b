"""What a text and a number may be: how long a text in an index, how large a number, and which characters are
no text. The limits are those that both databases can keep.

PostgreSQL takes about 2,700 bytes into one entry of an index. Each limit leaves room for what stands beside
the text in the longest index that it is part of. SQLite would take more; it is held to the same, so that a
queue can move from one database to the other.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thresher.core.errors import InvalidPayload

MAX_KEY_BYTES = 2_000  # the key of a record, the target of a link, all gates of a lane together
MAX_NAME_BYTES = 200  # kinds and names
MAX_GATE_BYTES = 300
MAX_HOST = 253  # characters: a longer name is in no name server
MAX_INTEGER = 2**63 - 1
# All that one attempt brings, and all that one turn settles: PostgreSQL takes 1 GB in a message.
MAX_SETTLEMENT_BYTES = 128 * 1024 * 1024
SHOWN = 80


def check_text(text: object, what: str, most: int) -> str:
    """Return the text if an index can hold it. Refuse anything else."""
    if not isinstance(text, str):
        raise InvalidPayload(f"{what} must be text, got {type(text).__name__}")
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    if size > most:
        raise InvalidPayload(
            f"{what} has {size:,} bytes; the limit is {most:,}. It begins with {brief(text)!r}"
        )
    return text


def check_integer(number: int, what: str) -> int:
    """Return the number if both databases can store it. Refuse any other."""
    if not -MAX_INTEGER - 1 <= number <= MAX_INTEGER:
        raise InvalidPayload(f"{what} is {brief(number)}; a whole number may have at most 64 bits")
    return number


def check_integers(values: Mapping[str, object] | Sequence[object]) -> None:
    """Refuse a whole number that a database cannot store, anywhere in the values of a statement."""
    named: Iterable[tuple[object, object]] = (
        values.items() if isinstance(values, Mapping) else enumerate(values, 1)
    )
    for name, value in named:
        for each in value if isinstance(value, list | tuple) else (value,):
            if type(each) is int and not -MAX_INTEGER - 1 <= each <= MAX_INTEGER:
                check_integer(each, str(name) if isinstance(name, str) else f"value {name}")


def bounded(key: str) -> str:
    """Return a key short enough for an index: one that is too long keeps its beginning and gets a digest of
    the whole.
    """
    whole = key.encode("utf-8", "replace")
    if len(whole) <= MAX_KEY_BYTES:
        return key
    return f"{whole[:MAX_NAME_BYTES].decode('utf-8', 'ignore')}~{hashlib.sha256(whole).hexdigest()}"


def brief(text: object) -> str:
    """Return the beginning of a text, for messages."""
    whole = str(text)
    return whole if len(whole) <= SHOWN else f"{whole[:SHOWN]}…"


# Characters that are no text: they steer a terminal, or make a line read other than it is written.

# Vertical tab, form feed and NEL break lines, the four separators part words; tab, line feed and carriage
# return stay as they are.
_REPLACED: Mapping[int, str] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)], "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys([0x0B, 0x0C, 0x85], "\n"),
    **dict.fromkeys(range(0x1C, 0x20), " "),
    # Embeddings, overrides and isolates turn the direction of what follows. Pages in Hebrew and Arabic use
    # them, so they leave no mark.
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\N{ZERO WIDTH SPACE}"),
    **{ord(kept): kept for kept in "\t\n\r"},
}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# A page of postings is looked through several times, so each of these is made to be quick: bytes are counted
# in C, and a pattern that begins with one known character is looked for by that character alone.
_ASCII_CONTROLS = bytes(code for code in range(0x80) if _CONTROL.match(chr(code)))
_HIGH_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F
_DIRECTION = re.compile(rb"\xe2(?:\x80[\xaa-\xae]|\x81[\xa6-\xa9])")  # U+202A to 202E, U+2066 to 2069
_ESCAPED = re.compile(rb"\\(?:u00[01]|[bf])")  # in JSON the first 32 are escapes already
# Everything that Unicode calls a control, a format character, half a surrogate pair, or a separator of lines
# and paragraphs.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def without_controls(text: str) -> str:
    """Replace every control character with a harmless one. The length stays the same, so positions stay
    valid.
    """
    written = text.encode("utf-8", "surrogatepass")
    if len(written.translate(None, _ASCII_CONTROLS)) == len(written) and not _beyond_ascii(written):
        return text
    return text.translate(_REPLACED)


def controls_in(written: bytes) -> bool:
    """Tell whether JSON may contain a control character in one of its strings; an escaped backslash may look
    like one.
    """
    if b"\\" in written and _ESCAPED.search(written) is not None:
        return True
    return b"\x7f" in written or _beyond_ascii(written)


def _beyond_ascii(written: bytes) -> bool:
    """Tell whether UTF-8 has one of the control characters that are not ASCII."""
    if written.isascii():
        return False
    return _HIGH_CONTROL.search(written) is not None or _DIRECTION.search(written) is not None


def all_without_controls(value: Any) -> Any:
    """Do the same for every string in a JSON value, names included."""
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, Mapping):
        return {all_without_controls(name): all_without_controls(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [all_without_controls(each) for each in value]
    return value


def escape_unseen(written: str) -> str:
    r"""Return equivalent JSON with every invisible character written as \uXXXX: safe to show on a
    terminal.
    """
    return _UNSEEN.sub(_escape, written)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

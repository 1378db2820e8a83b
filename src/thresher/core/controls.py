"""Characters that are no text: they steer a terminal, or make a line read other than it is written.

A page may hold any of them. They are replaced when a record is cleaned, and escaped wherever JSON leaves for
a terminal.
"""

import re
from collections.abc import Mapping
from typing import Any

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
# In JSON the first 32 are escapes already.
_IN_JSON = re.compile(r"[\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\\u00[01]|\\[bf]")
# Everything that Unicode calls a control, a format character, half a surrogate pair, or a separator of lines
# and paragraphs.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def without_controls(text: str) -> str:
    """The text with every control character replaced by one that is harmless. It keeps its length, so places
    in it stay true.
    """
    return text.translate(_REPLACED) if _CONTROL.search(text) else text


def controls_in(written: str) -> bool:
    """Whether JSON may hold a control character in one of its texts; a backslash that was meant may look like
    one.
    """
    return _IN_JSON.search(written) is not None


def all_without_controls(value: Any) -> Any:
    """The same for every text in a JSON value, names included."""
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, Mapping):
        return {all_without_controls(name): all_without_controls(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [all_without_controls(each) for each in value]
    return value


def escape_unseen(written: str) -> str:
    r"""JSON that means the same, with every character that is not seen written as \uXXXX: safe to show on a
    terminal.
    """
    return _UNSEEN.sub(_escape, written)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

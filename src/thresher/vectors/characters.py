"""How the characters of a text are read before words are looked up: the rules of the uncased BERT models, one
character at a time.

Accents fall away, letters become small, white space becomes one blank, what cannot be seen is dropped, and a
sign of punctuation or a Chinese character stands alone. No rule looks at a neighbour, so that the whole is
one table, and a text costs time in proportion to its length whatever it is made of: normalising it in one go
would sort long runs of combining marks, which takes the square of their number.
"""

import unicodedata

IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
# ASCII signs that Unicode counts as symbols, and the models as punctuation.
SIGNS = frozenset("$+<=>^`|~")
BLANKS = frozenset("\t\n\r")
REPLACEMENT = "\ufffd"
MAX_REMEMBERED = 20_000


class Characters(dict[int, str]):
    """A table for `str.translate` that fills itself; a text of a million different characters cannot make it
    grow for ever.
    """

    def __missing__(self, code: int) -> str:
        read = _read(chr(code))
        if len(self) < MAX_REMEMBERED:
            self[code] = read
        return read


def _read(character: str) -> str:
    if character in BLANKS:
        return " "
    category = unicodedata.category(character)
    if character == REPLACEMENT or category in {"Cc", "Cf", "Co", "Cs"}:
        return ""
    if category[0] == "Z":
        return " "
    plain = "".join(_apart(each) for each in _plain(character))
    return f" {plain} " if _is_ideograph(ord(character)) else plain


def _plain(character: str) -> str:
    """Without its accents, and small. One character at a time, so that a sigma does not depend on where it
    stands.
    """
    parts = unicodedata.normalize("NFD", character)
    return "".join(part.lower() for part in parts if unicodedata.category(part) != "Mn")


def _apart(character: str) -> str:
    return f" {character} " if character in SIGNS or unicodedata.category(character)[0] == "P" else character


def _is_ideograph(code: int) -> bool:
    return any(first <= code <= last for first, last in IDEOGRAPHS)

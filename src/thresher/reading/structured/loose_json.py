"""JSON as pages really carry it: with comments, CDATA marks, trailing commas, raw line breaks, or written as
JavaScript.

Read strictly first; only what fails is repaired, by a scanner that goes over the text once and guesses
nothing about values. What cannot be repaired is reported with the place where it broke.
"""

import html
import json
import re
from dataclasses import dataclass
from typing import Any, Final

MAX_CHARACTERS: Final = 4_000_000  # characters: larger data sets are files, not part of a page
# Looked for in the first and last characters only: over a whole text these would be tried at every blank.
_OPENING = re.compile(r"(?:(?://|/\*)?\s*(?:<!--|<!\[CDATA\[)\s*(?:\*/)?\s*)+")
_CLOSING = re.compile(r"(?:(?://|/\*)?\s*(?:-->|\]\]>)\s*(?:\*/)?\s*)+$")
_MARGIN = 60
_LONE = re.compile(r"\\u[dD][89abAB]\w\w(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]\w\w)\\u[dD][c-fC-F]\w\w")
_STRING = {quote: re.compile(rf"{quote}((?:[^{quote}\\]|\\.)*+){quote}", re.DOTALL) for quote in "\"'`"}
_PLAIN = re.compile(r"[^\"'`/{}\[\]:,;!\w$.+-]+")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]{1,16}|(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,4})?)(?![\w$])"
)
_MEANINGS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "undefined": "null",
    "NaN": "null",
    "Infinity": "null",
}
_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Loose:
    """What was read, and whether it had to be repaired first."""

    value: Any
    repaired: bool = False


class BrokenJson(ValueError):
    """Cannot be read even so. Says what was met, where, and shows the place."""

    def __init__(self, what: str, text: str, at: int) -> None:
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        super().__init__(f"{what} at line {line}, column {column}: {text[max(0, at - 20) : at + 20]!r}")


def read_json(text: str) -> Loose:
    """The value that a text holds. Raises `BrokenJson`."""
    if len(text) > MAX_CHARACTERS:
        raise BrokenJson(f"{len(text):,} characters of JSON; the limit is {MAX_CHARACTERS:,}", text, 0)
    try:
        return Loose(_strict(text))
    except ValueError:
        pass
    bare = unwrapped(text)
    try:
        return Loose(_strict(bare), repaired=True)
    except json.JSONDecodeError as problem:
        if problem.msg == "Extra data" and (several := _several(bare)) is not None:
            return Loose(several, repaired=True)
    except ValueError as problem:
        raise BrokenJson(str(problem), bare, 0) from None
    return Loose(_repaired(bare), repaired=True)


def unwrapped(text: str) -> str:
    """Without comment and CDATA marks around it; unescaped where even the quotes were escaped."""
    bare = text.strip().lstrip("\ufeff")
    if (opening := _OPENING.match(bare[:_MARGIN])) is not None:
        bare = bare[opening.end() :]
    if (closing := _CLOSING.search(bare[-_MARGIN:])) is not None:
        bare = bare[: len(bare) - len(closing[0])]
    bare = bare.strip().rstrip(";").strip()
    return html.unescape(bare) if '"' not in bare and "&quot;" in bare else bare


def _strict(text: str) -> Any:
    try:
        # Not strict about raw line breaks and tabs in strings: nothing else could be meant by them.
        return json.loads(
            _LONE.sub(r"\\ufffd", text) if "\\u" in text else text,
            strict=False,
            parse_constant=lambda _: None,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _several(text: str) -> list[Any] | None:
    """Values that merely follow each other: `{...} {...}`."""
    decoder = json.JSONDecoder(strict=False)
    found: list[Any] = []
    at = 0
    try:
        while at < len(text) and len(found) < 1_000:
            value, at = decoder.raw_decode(text, at)
            found.append(value)
            at = _past(text, at)
    except (ValueError, RecursionError):
        return None
    return found


def _past(text: str, at: int) -> int:
    while at < len(text) and (text[at].isspace() or text[at] in ",;"):
        at += 1
    return at


def _repaired(text: str) -> Any:
    written = "".join(_rewritten(text))
    try:
        return _strict(written)
    except json.JSONDecodeError as problem:
        raise BrokenJson(problem.msg, written, problem.pos) from None
    except ValueError as problem:
        raise BrokenJson(str(problem), text, 0) from None


def _rewritten(text: str) -> list[str]:
    """The same as strict JSON, piece by piece: quotes doubled, bare keys quoted, comments and trailing commas
    gone.
    """
    out: list[str] = []
    at = 0
    while at < len(text):
        piece, at = _piece(text, at)
        if piece in ("}", "]") and out and out[-1] == ",":
            out.pop()
        if piece:
            out.append(piece)
    return out


def _piece(text: str, at: int) -> tuple[str, int]:
    char = text[at]
    if char in _STRING:
        match = _STRING[char].match(text, at)
        if match is None:
            raise BrokenJson("a string that never ends", text, at)
        return _quoted(match[1]), match.end()
    if char == "/":
        return "", _past_comment(text, at)
    if char in "{}[]:,":
        return char, at + 1
    if char == ";":
        return "", at + 1
    if char == "!" and text[at + 1 : at + 2] in ("0", "1"):  # how minifiers write true and false
        return "true" if text[at + 1] == "0" else "false", at + 2
    if (word := _WORD.match(text, at)) is not None:
        return _word(text, word)
    if (number := _NUMBER.match(text, at)) is not None:
        return _number(number[0]), number.end()
    if (blank := _PLAIN.match(text, at)) is not None and not blank[0].strip():
        return "", blank.end()
    raise BrokenJson("something that is not JSON", text, at)


def _word(text: str, word: re.Match[str]) -> tuple[str, int]:
    blank = _past_blank(text, word.end())
    if text[blank : blank + 1] == ":":
        return json.dumps(word[0]), word.end()
    if word[0] not in _MEANINGS:
        raise BrokenJson(f"a script's {word[0][:40]!r} where a value should be", text, word.start())
    return _MEANINGS[word[0]], word.end()


def _past_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _past_comment(text: str, at: int) -> int:
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        return len(text) if end < 0 else end + 2
    raise BrokenJson("a slash that does not start a comment", text, at)


def _number(written: str) -> str:
    bare = written.lstrip("+")
    if "x" in bare.lower():
        return str(int(bare, 16))
    value = float(bare)
    whole = bare.lstrip("-").isdecimal()
    return (
        str(int(bare)) if whole and len(bare) < 30 else repr(value) if abs(value) < float("inf") else "null"
    )


def _quoted(inside: str) -> str:
    meant = _ESCAPES.sub(_meant, inside)
    return json.dumps(meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), ensure_ascii=False)


_NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "", "\n": ""}


def _meant(match: re.Match[str]) -> str:
    said = match[0][1:]
    if len(said) > 1:
        return chr(int(said[1:], 16))
    return _NAMED.get(said, said)

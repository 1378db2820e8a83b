"""Data that a page carries for its own scripts: `__NEXT_DATA__`, `window.STATE = {...}`, `<div
data-props="{...}">`.

Where a page draws its list by script, this is where the list is. Found by name and equals sign, cut out by
counting braces outside of texts, and read as JSON or as the JavaScript that is nearly JSON.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from thresher.reading.html.parser import Node
from thresher.reading.structured.loose_json import MAX_CHARACTERS, BrokenJson, read_json
from thresher.reading.structured.thing import MAX_DEPTH, BadData

MAX_EMBEDDED: Final = 200
_MIN_SIZE = 20  # characters: `x = {}` and `y = []` hold nothing
_ATTRIBUTES: Final = (
    "data-page",
    "data-props",
    "data-react-props",
    "data-state",
    "data-initial-state",
    "data-initial",
    "data-json",
)
_WITH_DATA: Final = ", ".join(f"[{name}]" for name in _ATTRIBUTES)
_PATIENCE = 3  # how many times a script may be gone over
_ASSIGNED = re.compile(
    r"(?<![\w$.])((?:[A-Za-z_$][\w$]{0,99})(?:\.[A-Za-z_$][\w$]{0,99}|\[[\"'][\w$ .:-]{1,99}[\"']\]){0,6}+)\s{0,20}+=\s{0,20}+"
    r"(?:(?=[{\[])|(?P<parsed>JSON\.parse\(\s{0,20})(?=[\"'])|(?P<quoted>)(?=[\"']\s{0,20}[{\[]))"
)
# A text that is never closed is taken to the end of its line, so that no character is looked at twice.
_TOKEN = re.compile(r"[{}\[\]]|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?", re.DOTALL)
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'", re.DOTALL)
_RECORD = re.compile(r"[0-9a-f]{1,8}:[A-Z]{0,2}(?=[{\[])")
_FLIGHT = re.compile(r"self\.__next_f\.push\(\s{0,20}(?=\[)")


@dataclass(frozen=True, slots=True)
class Embedded:
    """`name` is the element's id or the variable; `path` leads to the script."""

    name: str
    value: Any
    path: str


def embedded(root: Node) -> tuple[list[Embedded], list[BadData]]:
    """The data sets of a page in order, and those that should be data and cannot be read."""
    found: list[Embedded] = []
    troubles: list[BadData] = []
    pieces: list[tuple[str, str]] = []
    for script in root.css("script:not([src])"):
        kind = (script.attribute("type") or "").lower()
        if "ld+json" in kind or len(found) >= MAX_EMBEDDED:
            continue
        if "json" in kind:
            _read_whole(script, found, troubles)
        elif kind in ("", "module") or "javascript" in kind or "ecmascript" in kind:
            found += islice(_assigned(script), MAX_EMBEDDED - len(found))
            if (piece := _pushed(script)) is not None:
                pieces.append((piece, script.path))
    found += islice(_streamed(pieces), MAX_EMBEDDED - len(found))
    return found + list(islice(_in_attributes(root), MAX_EMBEDDED - len(found))), troubles


def _in_attributes(root: Node) -> Iterator[Embedded]:
    """Data handed to a component in an attribute of its element."""
    for node in root.css(_WITH_DATA)[:MAX_EMBEDDED]:
        for name in _ATTRIBUTES:
            text = (node.attribute(name) or "").strip()
            if len(text) >= _MIN_SIZE and text[0] in "{[" and (value := _read(text)) is not None:
                yield Embedded(name, value, node.path)


def walk(value: Any, path: str = "$", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every list and mapping inside, the outer before the inner, with its path."""
    if depth > MAX_DEPTH or not isinstance(value, dict | list):
        return
    yield path, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, each in inner:
        if isinstance(each, dict | list):
            step = f"[{key}]" if isinstance(key, int) else f".{str(key)[:80]}"
            yield from walk(each, path + step, depth + 1)


def _read_whole(script: Node, found: list[Embedded], troubles: list[BadData]) -> None:
    text = script.text
    if not text.strip():
        return
    name = script.attribute("id") or script.attribute("data-target") or script.attribute("class") or "script"
    try:
        found.append(Embedded(name, read_json(text).value, script.path))
    except BrokenJson as problem:
        troubles.append(BadData(script.path, f"embedded JSON that cannot be read: {problem}"))


def _assigned(script: Node) -> Iterator[Embedded]:
    text = script.text
    if len(text) > MAX_CHARACTERS:
        return
    at, budget = 0, _PATIENCE * len(text)
    while budget > 0 and (match := _ASSIGNED.search(text, at)) is not None:
        value, at = _value_at(text, match)
        # A bracket that is never closed was looked for to the very end, and the search goes on right behind
        # it.
        budget -= at - match.start() if at > match.end() else len(text) - match.end()
        if value is not None:
            yield Embedded(
                re.sub(r"^(?:window|self|globalThis)\.|[\"'\]]", "", match[1]).replace("[", "."),
                value,
                script.path,
            )


def _pushed(script: Node) -> str | None:
    """The piece of a stream that a script carries; each stands in a script of its own."""
    text = script.text
    bare = text.lstrip()
    pushed = _FLIGHT.match(bare) if len(text) <= MAX_CHARACTERS else None
    end = balanced(bare, pushed.end()) if pushed else None
    value = _read(bare[pushed.end() : end]) if pushed and end is not None else None
    return next((each for each in value if isinstance(each, str)), "") if isinstance(value, list) else None


def _streamed(pieces: Sequence[tuple[str, str]]) -> Iterator[Embedded]:
    """The records of a stream, one a line under a number (`5:{...}`). A record may be cut between two
    pieces, so all of them are one text.
    """
    whole = "".join(text for text, _ in pieces)[:MAX_CHARACTERS]
    for line in whole.split("\n")[:MAX_EMBEDDED]:
        record = _RECORD.match(line)
        if record and len(line) >= _MIN_SIZE and (value := _read(line[record.end() :])) is not None:
            yield Embedded("__next_f", value, pieces[0][1])


def _value_at(text: str, match: re.Match[str]) -> tuple[Any, int]:
    start = match.end()
    if match["parsed"] or match["quoted"] is not None:  # JSON.parse("..."), or a text that the code parses
        quoted = _TEXT.match(text, start)
        inner = _read(quoted[0]) if quoted else None
        return (_read(inner) if isinstance(inner, str) else None), quoted.end() if quoted else start
    end = balanced(text, start)
    if end is None:
        return None, start
    if end - start < _MIN_SIZE:
        return None, end
    return _read(text[start:end]), end


def _read(text: str) -> Any:
    """The value, or None: what is assigned in a script is more often code than data, and that is no
    trouble.
    """
    try:
        return read_json(text).value
    except BrokenJson:
        return None


def balanced(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed, texts skipped; None where it never is."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "{[":
            depth += 1
        elif token[0] in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None

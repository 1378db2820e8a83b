"""Data that a page carries for its own scripts: `__NEXT_DATA__`, `window.STATE = {...}`, `<div
data-props="{...}">`.

Where a page draws its list by script, this is where the list is. Found by name and equals sign, cut out by
counting braces outside of texts, and read as JSON or as the JavaScript that is nearly JSON.
"""

import re
from collections.abc import Iterator, Mapping
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
    r"(?:(?=[{\[])|(JSON\.parse\(\s{0,20})(?=[\"']))"
)
# A text that is never closed is taken to the end of its line, so that no character is looked at twice.
_TOKEN = re.compile(r"[{}\[\]]|\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|`(?:[^`\\]|\\.)*+`?", re.DOTALL)
_TEXT = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'", re.DOTALL)
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
    for script in root.css("script:not([src])"):
        kind = (script.attribute("type") or "").lower()
        if "ld+json" in kind or len(found) >= MAX_EMBEDDED:
            continue
        if "json" in kind:
            _read_whole(script, found, troubles)
        elif kind in ("", "module") or "javascript" in kind or "ecmascript" in kind:
            found += islice(_assigned(script), MAX_EMBEDDED - len(found))
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
    bare = text.lstrip()
    pushed = _FLIGHT.match(bare)  # each stands in a script of its own
    end = balanced(bare, pushed.end()) if pushed else None
    if pushed and end is not None and (value := _read(bare[pushed.end() : end])) is not None:
        yield Embedded("__next_f", value, script.path)


def _value_at(text: str, match: re.Match[str]) -> tuple[Any, int]:
    start = match.end()
    if match[2]:  # JSON.parse("...")
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

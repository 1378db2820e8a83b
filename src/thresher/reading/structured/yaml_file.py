"""YAML, read by the fast parser where there is one: some thirty small files stand between a start and a first
answer.
"""

from collections.abc import Sequence
from typing import Any

import yaml

DEEPEST = 50
MAX_VALUES = 100_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unbounded(yaml.YAMLError):
    """The text is small and what it stands for is not."""


def read_yaml(text: str) -> Any:
    """What the text holds. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506  both of them are safe loaders


def read_foreign_yaml(text: str) -> Any:
    """The same for a text that somebody else wrote: the fast parser does not survive endless nesting. Raises
    yaml.YAMLError.
    """
    _check(text)
    return read_yaml(text)


def _check(text: str) -> None:
    """Refuse what is nested too deep, or grows without end where names for values stand inside each other."""
    sizes: dict[str, int] = {}
    open_values: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=_LOADER):
        match event:
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                open_values.append((event.anchor, total))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                name, before = open_values.pop()
                sizes |= {name: total - before} if name else {}
            case yaml.AliasEvent():
                total += sizes.get(event.anchor or "", 0)
        total += 1
        if len(open_values) > DEEPEST or total > MAX_VALUES:
            raise Unbounded(f"nested deeper than {DEEPEST} or longer than {MAX_VALUES:,} values")


def line_of(text: str, path: Sequence[str | int]) -> int | None:
    """The line on which a key stands, or the nearest part of its path that stands anywhere; None for what has
    no lines.
    """
    node = yaml.compose(text, Loader=_LOADER)
    line = None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = (node.value[step], node.value[step])
        else:
            found = None
        if found is None:
            return line
        key, node = found
        line = int(key.start_mark.line) + 1
    return line

"""Where in a row a value stands, written down rather than programmed.

    location.name            a key inside a key
    offices[].name           of every item of a list; a single value counts as a list of one
    bulletFields[0]          one item
    ^name                    from the whole answer instead of the row
    link.@href               an attribute of an XML element; `#text` is what stands beside the attributes

In XML a name may always be repeated: `office.name` reads every office, and `[]` may be left out.

A field is a path; a list of fields (the first that holds something); `{all: [...], with: ", "}` (everything
that holds something, joined); `{template: "https://…/{id}"}` (nothing where a part is missing). `each: path`
applies the latter two to every item of a list, joined by `between`.
"""

import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from thresher.reading.structured.xml import XmlData, XmlList

_STEP = re.compile(r"([^.\[\]]+)|\[(\d*)\]")
_HOLE = re.compile(r"\{([^{}]+)\}")
_FORMS = {"all", "with", "template", "each", "between"}
MAX_ITEMS = 10_000  # items a path may spread into: a hostile answer must not multiply
MAX_STEP = 80  # characters of a name in a trail that is written down

Trail = tuple[str | int, ...]  # the names and numbers that lead to a value
_WHOLE: Trail = ("^",)  # of the whole answer, and not of the row


class Leaf(NamedTuple):
    """A value, and where it stands: below the row, or with `^` in front below the whole answer."""

    value: Any
    trail: Trail = ()


class LocatedText(NamedTuple):
    """What a field says, and the values that it was made of."""

    text: str
    parts: tuple[Leaf, ...]


Field = Callable[[Any, Any], str | None]  # (row, whole answer) -> what it says
LocatedField = Callable[[Any, Any], LocatedText | None]  # the same, with where it stands


class BadField(ValueError):
    """What is written is no field."""


def values(path: str, row: Any, root: Any = None) -> list[Any]:
    """Everything that stands at the path; nothing where it leads nowhere."""
    return [leaf.value for leaf in located(path, row, root)]


def first(path: str, row: Any, root: Any = None) -> Any:
    """The first of `values`, or None."""
    return next(iter(values(path, row, root)), None)


def located(path: str, row: Any, root: Any = None) -> list[Leaf]:
    """`values`, each with where it stands."""
    found = [Leaf(root, _WHOLE) if path.startswith("^") else Leaf(row)]
    for name, index in _STEP.findall(path.removeprefix("^")):
        found = list(islice(_stepped(found, name, index, spread=not name), MAX_ITEMS))
    return [leaf for leaf in found if leaf.value is not None]


def _stepped(found: list[Leaf], name: str, index: str, *, spread: bool) -> Iterator[Leaf]:
    for leaf in found:
        value, trail = leaf
        if not spread:
            # In XML one name may stand for several elements.
            for each, where in _items(leaf) if isinstance(value, XmlList) else (leaf,):
                if isinstance(each, Mapping):
                    yield Leaf(each.get(name), (*where, name))
        elif not isinstance(value, list):
            if not index or int(index) == 0:
                yield leaf
        elif not index:
            yield from _items(leaf)
        elif int(index) < len(value):
            yield Leaf(value[int(index)], (*trail, int(index)))


def _items(leaf: Leaf) -> Iterator[Leaf]:
    """The values of a list."""
    return (Leaf(each, (*leaf.trail, at)) for at, each in enumerate(leaf.value))


def spelled(trail: Trail, row: str = "$") -> str:
    """A trail as evidence writes it, `$.items[3].name`; `row` is where the row itself stands."""
    whole = trail[:1] == _WHOLE
    steps = (f"[{step}]" if isinstance(step, int) else f".{step[:MAX_STEP]}" for step in trail[whole:])
    return ("$" if whole else row) + "".join(steps)


def field(spec: Any) -> Field:
    """Read a field as it is written in a platform's file. Raises BadField."""
    read = located_field(spec)

    def said(row: Any, root: Any) -> str | None:
        found = read(row, root)
        return found.text if found is not None else None

    return said


def located_field(spec: Any) -> LocatedField:
    """`field`, for whoever must know where a value stands. Raises BadField."""
    match spec:
        case str():
            return lambda row, root: _said(located(spec, row, root))
        case [*specs] if specs:
            return _first_of([located_field(each) for each in specs])
        case {"all": [*_]} | {"template": str()} if set(spec) <= _FORMS and ("all" in spec) != (
            "template" in spec
        ):
            return _repeated(spec, _joined(spec) if "all" in spec else _template(spec["template"]))
        case _:
            raise BadField(
                f"{reprlib.repr(spec)} is not a field; write a path, a list of paths, or a mapping with all or template"
            )


def _first_of(fields: list[LocatedField]) -> LocatedField:
    return lambda row, root: next((said for each in fields if (said := each(row, root))), None)


def _joined(forms: Mapping[str, Any]) -> LocatedField:
    fields, between = [located_field(each) for each in forms["all"]], str(forms.get("with", "\n"))
    return lambda row, root: _together((each(row, root) for each in fields), between)


def _template(template: str) -> LocatedField:
    holes = _HOLE.findall(template)

    def filled(row: Any, root: Any) -> LocatedText | None:
        said = {hole: _said(located(hole, row, root)) for hole in holes}
        found = {hole: each for hole, each in said.items() if each is not None}
        if len(found) < len(said):
            return None
        text = _HOLE.sub(lambda match: found[match[1]].text, template)
        return LocatedText(text, tuple(part for each in found.values() for part in each.parts))

    return filled


def _repeated(forms: Mapping[str, Any], inner: LocatedField) -> LocatedField:
    if "each" not in forms:
        return inner
    path, between = str(forms["each"]), str(forms.get("between", "; "))
    return lambda row, root: _together(
        (_below(leaf.trail, inner(leaf.value, root)) for leaf in located(path, row, root)), between
    )


def _below(trail: Trail, said: LocatedText | None) -> LocatedText | None:
    """What an item of a list says, with where it stands in the row."""
    if said is None:
        return None
    parts = (
        part if part.trail[:1] == _WHOLE else Leaf(part.value, (*trail, *part.trail)) for part in said.parts
    )
    return LocatedText(said.text, tuple(parts))


def _together(said: Iterator[LocatedText | None], between: str) -> LocatedText | None:
    """Everything that holds something, each text once."""
    found: dict[str, LocatedText] = {}
    for each in said:
        if each is not None:
            found.setdefault(each.text, each)
    if not found:
        return None
    return LocatedText(between.join(found), tuple(part for each in found.values() for part in each.parts))


def _said(found: list[Leaf]) -> LocatedText | None:
    """Scalars as text; a list is joined, so that no place of work is lost."""
    told: dict[str, Leaf] = {}
    for leaf in islice(flat(found), MAX_ITEMS):
        if text := text_of(leaf.value):
            told.setdefault(text, leaf)
    return LocatedText("; ".join(told), tuple(told.values())) if told else None


def flat(found: list[Leaf]) -> Iterator[Leaf]:
    """The values of lists in place of the lists."""
    for leaf in found:
        yield from _items(leaf) if isinstance(leaf.value, list) else (leaf,)


def text_of(value: Any) -> str | None:
    """A scalar as text; None for what is none, and for true and false, which say nothing by themselves."""
    said = value.said if isinstance(value, XmlData) else value
    if not isinstance(said, str | int | float) or isinstance(said, bool):
        return None
    return str(said).strip() or None

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
from typing import Any

from thresher.reading.structured.xml import XmlData, XmlList

Field = Callable[[Any, Any], str | None]  # (row, whole answer) -> what it says
_STEP = re.compile(r"([^.\[\]]+)|\[(\d*)\]")
_HOLE = re.compile(r"\{([^{}]+)\}")
_FORMS = {"all", "with", "template", "each", "between"}
MAX_ITEMS = 10_000  # items a path may spread into: a hostile answer must not multiply


class BadField(ValueError):
    """What is written is no field."""


def values(path: str, row: Any, root: Any = None) -> list[Any]:
    """Everything that stands at the path; nothing where it leads nowhere."""
    found = [root if path.startswith("^") else row]
    for name, index in _STEP.findall(path.removeprefix("^")):
        found = list(islice(_stepped(found, name, index, spread=not name), MAX_ITEMS))
    return [value for value in found if value is not None]


def first(path: str, row: Any, root: Any = None) -> Any:
    """The first of `values`, or None."""
    return next(iter(values(path, row, root)), None)


def _stepped(found: list[Any], name: str, index: str, *, spread: bool) -> Iterator[Any]:
    for value in found:
        if not spread:
            for each in value if isinstance(value, XmlList) else (value,):
                if isinstance(each, Mapping):
                    yield each.get(name)
        elif index:
            items = value if isinstance(value, list) else [value]
            if int(index) < len(items):
                yield items[int(index)]
        elif isinstance(value, list):
            yield from value
        else:
            yield value


def field(spec: Any) -> Field:
    """Read a field as it is written in a platform's file. Raises BadField."""
    match spec:
        case str():
            return lambda row, root: _said(values(spec, row, root))
        case [*specs] if specs:
            return _first_of([field(each) for each in specs])
        case {"all": [*_]} | {"template": str()} if set(spec) <= _FORMS and ("all" in spec) != (
            "template" in spec
        ):
            return _repeated(spec, _joined(spec) if "all" in spec else _template(spec["template"]))
        case _:
            raise BadField(
                f"{reprlib.repr(spec)} is not a field; write a path, a list of paths, or a mapping with all or template"
            )


def _first_of(fields: list[Field]) -> Field:
    return lambda row, root: next((said for each in fields if (said := each(row, root))), None)


def _joined(forms: Mapping[str, Any]) -> Field:
    fields, between = [field(each) for each in forms["all"]], str(forms.get("with", "\n"))
    return lambda row, root: (
        between.join(dict.fromkeys(said for each in fields if (said := each(row, root)))) or None
    )


def _template(template: str) -> Field:
    holes = _HOLE.findall(template)

    def filled(row: Any, root: Any) -> str | None:
        said = {hole: _said(values(hole, row, root)) for hole in holes}
        return _HOLE.sub(lambda match: said[match[1]] or "", template) if all(said.values()) else None

    return filled


def _repeated(forms: Mapping[str, Any], inner: Field) -> Field:
    if "each" not in forms:
        return inner
    path, between = str(forms["each"]), str(forms.get("between", "; "))
    return lambda row, root: (
        between.join(dict.fromkeys(said for item in values(path, row, root) if (said := inner(item, root))))
        or None
    )


def _said(found: list[Any]) -> str | None:
    """Scalars as text; a list is joined, so that no place of work is lost."""
    flat = [item for value in found for item in (value if isinstance(value, list) else [value])]
    said = (item.said if isinstance(item, XmlData) else item for item in flat[:MAX_ITEMS])
    texts = (
        str(item).strip()
        for item in said
        if isinstance(item, str | int | float) and not isinstance(item, bool)
    )
    return "; ".join(dict.fromkeys(text for text in texts if text)) or None

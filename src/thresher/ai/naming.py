"""The names of the values of an answer, as evidence calls them: `title`, `skills.2`, and with several things
`0.title`.
"""

from collections.abc import Iterator
from typing import Any

from thresher.core.schema import Field, Schema, Thing, Value, values_of


def named(schema: Schema, value: Any) -> Iterator[tuple[str, Field, Value]]:
    """Every value that is there, with its name and its field."""
    for where, thing in things(schema, value):
        for field in schema.fields:
            for name, each in zip(names(field, thing, where), values_of(field, thing), strict=True):
                yield name, field, each


def things(schema: Schema, value: Any) -> Iterator[tuple[str, Thing]]:
    """Every thing, with what the names of its values begin with."""
    for place, thing in enumerate(schema.things(value)):
        yield (f"{place}." if schema.many else ""), thing


def names(field: Field, thing: Thing, where: str = "") -> Iterator[str]:
    """The names of the values of one field."""
    for place, _ in enumerate(values_of(field, thing)):
        yield f"{where}{field.name}.{place}" if field.many else f"{where}{field.name}"

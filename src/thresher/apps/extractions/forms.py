"""A new recipe out of a form of plain fields. Each mistake belongs beside the field that it is about, so it
is kept together with the name of that field.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from thresher.apps.extractions.entities import read_entity
from thresher.apps.extractions.model import Entity, Limits
from thresher.apps.extractions.recipe_file import (
    LIMIT_KEYS,
    RecipeSpec,
    checked_name,
    checked_url,
    limits_of,
)
from thresher.core.errors import ConfigError, NotAllowed, ThresherError, UsageError
from thresher.reading.structured.checked_yaml import Mistake, read_checked, written

OWN_SCHEMA = "schema"  # what the list of entity types has for a schema of a person's own
FIELDS = ("name", "url", "entity", "schema", "key", *LIMIT_KEYS)

Made = TypeVar("Made")

_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"\d{1,15}\.\d{1,15}", re.ASCII)


class FieldMistake(Exception):
    """What is wrong with one field of a form."""

    def __init__(self, field: str, error: ThresherError) -> None:
        super().__init__(str(error))
        self.field, self.error = field, error


def beside(field: str, make: Callable[[], Made]) -> Made:
    """What `make` makes. Raises FieldMistake for this field in place of what it raises itself."""
    try:
        return make()
    except Mistake as mistake:
        # The name of the field stands above it already.
        path = written(mistake.path) if mistake.path[-1:] != (field,) else ""
        raise FieldMistake(field, ConfigError(": ".join(filter(None, (path, mistake.advice))))) from None
    except (UsageError, NotAllowed) as error:
        raise FieldMistake(field, error) from None


def read_form(said: Mapping[str, str]) -> tuple[str, RecipeSpec]:
    """The name of a new recipe, and what it says. Raises FieldMistake for the first mistake."""
    name = beside("name", lambda: checked_name(said["name"].strip()))
    if not said["url"].strip():
        raise FieldMistake("url", UsageError("write where the list begins: https://example.com/courses"))
    url = beside("url", lambda: checked_url(said["url"].strip()))
    return name, RecipeSpec(url, _entity(said), None, _limits(said))


def _entity(said: Mapping[str, str]) -> Entity:
    chosen, text = said["entity"], said["schema"].replace("\r\n", "\n")
    if chosen != OWN_SCHEMA:
        if text.strip():
            raise FieldMistake(
                "schema", UsageError("a schema is for “your own schema”; choose that, or empty this field")
            )
        return beside("entity", lambda: read_entity(chosen, ("entity",)))
    if not text.strip():
        raise FieldMistake(
            "schema", UsageError("write the JSON Schema of one item, or choose an entity type")
        )
    key = [each.strip() for each in said["key"].split(",") if each.strip()]

    def own(data: Any) -> Entity:
        try:
            found = read_entity({"schema": data}, ())
        except Mistake as mistake:
            # The lines are those of what was typed, which is the schema alone.
            raise Mistake(tuple(mistake.path[1:]), mistake.advice) from None
        return beside("key", lambda: read_entity({"schema": data, "key": key}, ())) if key else found

    return beside("schema", lambda: read_checked(text, "the schema", own))


def _limits(said: Mapping[str, str]) -> Limits:
    given = {name: _number(said[name].strip()) for name in LIMIT_KEYS if said[name].strip()}
    for name, value in given.items():
        beside(name, lambda name=name, value=value: limits_of({name: value}))  # type: ignore[misc]
    return limits_of(given)


def _number(text: str) -> Any:
    """A number if it is one; other text stays, for the check to name it."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text

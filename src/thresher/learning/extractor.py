"""An extractor: what was learned of a site, as a value that can be stored, compared and read with; and the
examples that it is learned from.

It is made once from a few pages and used on thousands; so it says of which site and schema it is, how sure it
is, and what the pages looked like that it was learned from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.schema import Field, Schema
from thresher.learning.landmark import NO_SKELETON, Skeleton
from thresher.learning.rule import Rule
from thresher.learning.shape import Shape
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Selector

FORMAT = 1


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The rules of one field, the best first, and the shape of its values. `score` is the share of checks
    that came out right.

    `echo` is the share of the value's words that the head of every known page, or its address, says too.
    """

    rules: tuple[Rule, ...]
    shape: Shape
    score: float = 1.0
    echo: float = 0.0


@dataclass(frozen=True, slots=True)
class Extractor:
    """`unlearned` says of each field without rules why it has none. `row` is set where a page shows several
    things: it selects the element of each, and the rules read within it.
    """

    site: str
    schema: Schema
    fields: Mapping[str, FieldRules]
    unlearned: Mapping[str, str] = field(default_factory=dict)
    skeleton: Skeleton = NO_SKELETON
    pages: int = 0
    version: int = 1
    row: Selector | None = None

    @property
    def score(self) -> float:
        """The share of checks that came out right, over all fields of the schema that stand in pages."""
        asked = [each for each in self.schema.fields if not each.judged]
        return (
            sum(self.fields[each.name].score for each in asked if each.name in self.fields) / len(asked)
            if asked
            else 0.0
        )


@dataclass(frozen=True, slots=True)
class LearningRefusal:
    """Nothing was learned, and why, in a sentence that says what would help. `fields` has the reason for each
    field.
    """

    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)


# An example: a page, and what is known of the thing it is about. What an extractor is learned from.


@dataclass(frozen=True, slots=True)
class Example:
    """`labels` hold the values by field name, from a model, a person or structured data. They need not be the
    whole truth.

    A name that is left out is unknown; None or an empty list says that the page does not have it. For a field
    that holds one value, a list gives several wordings of which any is right. With `schema.many`, `items`
    holds a mapping per thing.
    """

    document: Document
    labels: Mapping[str, Any]

    def truths(self, field: Field) -> tuple[Any, ...]:
        """The right values: of a field with many values all of them, else each wording that will do."""
        value = self.labels.get(field.name)
        values = value if isinstance(value, list | tuple) else (value,)
        return tuple(each for each in values if each is not None and each != "")

    def denies(self, field: Field) -> bool:
        """Whether the page is known not to have the field."""
        return field.name in self.labels and not self.truths(field)

"""An extractor: what was learned of a site, as a value that can be stored, compared and read with.

It is made once from a few pages and used on thousands; so it says of which site and schema it is, how sure it
is, and what the pages looked like that it was learned from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.core.schema import Schema
from thresher.learning.landmark import NO_SKELETON, Skeleton
from thresher.learning.rule import Rule
from thresher.learning.shape import Shape
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
    """Nothing was learned, and why, in a sentence that a person can act on. `fields` says it of each
    field.
    """

    reason: str
    fields: Mapping[str, str] = field(default_factory=dict)

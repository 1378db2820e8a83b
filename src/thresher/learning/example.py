"""An example: a page, and what is known of the thing it is about. What an extractor is learned from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.core.schema import Field
from thresher.reading.html.document import Document


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

"""An extract: what was read from one page, by whom, and what is left in doubt."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.core.evidence import Evidence


class By(StrEnum):
    """Who read a page: a learned extractor, its own structured data, a model; or nobody could."""

    LEARNED = "learned"
    DATA = "data"
    MODEL = "model"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Extract:
    """`value` fits the schema as far as it was read. `doubts` say, in sentences, what a person should look
    at.

    `cost` is what was paid for it now, in millionths of a dollar.
    """

    value: Any
    evidence: Evidence
    by: By
    doubts: tuple[str, ...] = ()
    cost: int = 0

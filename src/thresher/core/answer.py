"""Answers of models and extracts of pages: the values, their evidence, and what they cost."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.core.evidence import Evidence

# Money is counted in millionths of a dollar, as whole numbers: sums of many small prices stay exact.
DOLLAR = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens and calls that a question used."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """`value` fits the requested schema. `cost` is in millionths of a dollar, and is what this question cost
    once.

    `cached`: the same question was answered before, and nothing was paid now.
    """

    value: Any
    evidence: Evidence
    usage: Usage
    cost: int
    model: str
    cached: bool = False


class By(StrEnum):
    """What read a page: a learned extractor, its own structured data, a model, or nothing."""

    LEARNED = "learned"
    DATA = "data"
    MODEL = "model"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Extract:
    """`value` fits the schema as far as it could be read. `doubts` are sentences about what to check.

    `cost` is what was paid for it now, in millionths of a dollar.
    """

    value: Any
    evidence: Evidence
    by: By
    doubts: tuple[str, ...] = ()
    cost: int = 0

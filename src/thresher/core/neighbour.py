"""A neighbour: something known whose name lies near a text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """`id` is what it is known by, `score` the cosine of the angle to it. Without `meaning` only shared
    letters were compared.
    """

    id: int
    name: str
    score: float
    meaning: bool = True

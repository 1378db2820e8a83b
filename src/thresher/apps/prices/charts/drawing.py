"""A drawing is a list of shapes. It knows nothing of prices, nor of the format that it is written in.

Colours are roles, because a page has a light and a dark scheme and a file has neither: `ink` for what
matters, `soft` for axes and words. Texts come from people and from pages; the writers escape them.
"""

from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
Role = Literal["ink", "soft"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through several points."""

    points: tuple[Point, ...]
    role: Role = "ink"
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Area:
    """A filled polygon."""

    points: tuple[Point, ...]
    opacity: float
    says: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of one thing: a full dot, a ring, a triangle or a cross. `says` is shown where a pointer
    rests, and to who cannot see it.
    """

    at: Point
    shape: Literal["dot", "ring", "triangle", "cross"]
    says: str
    opacity: float = 1.0
    radius: float = 3.5


@dataclass(frozen=True, slots=True)
class Words:
    """A short text on one line; `at` is on its baseline."""

    at: Point
    text: str
    anchor: Anchor = "start"
    role: Role = "soft"


Shape = Line | Area | Mark | Words


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes in the order in which they are drawn, and a sentence that says what they show."""

    width: int
    height: int
    says: str
    shapes: tuple[Shape, ...]

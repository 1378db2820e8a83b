"""A candidate: a board that may be a company's, and how it came up. What came of each is kept, whatever it
was.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thresher.hiring.confidence import Method
from thresher.hiring.slugs import slugs
from thresher.reading.platforms.boards import Board, board_named
from thresher.reading.platforms.platform import guessable

MAX_REASON = 300
LOOK = "look"  # the method of a page that was only looked at
GONE, UNREACHED = (
    "gone",
    "unreached",
)  # besides the ends of a look: there is no such thing, and nobody answered


@dataclass(frozen=True, slots=True)
class Candidate:
    """`page` is the page that named it, where one did."""

    method: Method
    board: Board
    page: str | None = None

    def as_json(self) -> dict[str, Any]:
        board = self.board
        said = {
            "platform": board.platform,
            "token": board.token,
            "url": board.url,
            "parts": dict(board.parts),
        }
        return {"method": self.method.value, "page": self.page, **said}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of a candidate, or of a page that might have named one. `reason` is why it was not taken;
    None for the one that was.
    """

    method: str
    url: str
    verdict: str
    status: int | None = None
    count: int | None = None
    name: str | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        said = {**asdict(self), "reason": self.reason and self.reason[:MAX_REASON]}
        return {name: value for name, value in said.items() if value is not None}


def candidate_of(data: Mapping[str, Any]) -> Candidate:
    """The way back from JSON."""
    board = Board(data["platform"], data["token"], data["url"], data["parts"])
    return Candidate(Method(data["method"]), board, data["page"])


def guesses(name: str | None, website: str | None, most: int) -> tuple[Candidate, ...]:
    """Boards under names that a company might have chosen: its likeliest name on every platform, then the
    next.

    Only on platforms whose tokens are names at all. A token that cannot be on a platform is not tried there.
    """
    tokens = slugs(name, website) if name else ()
    boards = (board_named(platform.name, token) for token in tokens for platform in guessable())
    return tuple(Candidate(Method.GUESS, board) for board in boards if board)[:most]

"""A listing: the postings one page or answer holds, how many it says there are, and where they were read."""

from dataclasses import dataclass

from thresher.reading.boards import Board
from thresher.reading.posting import Posting


@dataclass(frozen=True, slots=True)
class Listing:
    """`rows` is how many entries stood there before doubles were merged; `total` what the source says, if it
    says.

    `proof` is whether an empty listing may be taken at its word: some platforms answer so for boards that do
    not exist.
    """

    postings: tuple[Posting, ...]
    source: str
    rows: int = 0
    total: int | None = None
    next: str | None = None
    board: Board | None = None
    platform: str | None = None
    proof: bool = True
    single: bool = False

"""For whom a request goes out, and on what terms."""

from dataclasses import dataclass

from thresher.fetch.governor import Governor
from thresher.fetch.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Errand:
    """`source` is part of every cache key: what was asked for one source is never handed to another.

    `max_age` is how many seconds old a kept copy may be; None leaves that to the server's word, 0 asks again always.
    `replay` takes kept copies only, however old, and never touches the network.
    """

    governor: Governor
    shelf: Shelf | None = None
    source: str = ""
    max_age: float | None = None
    render: bool = False
    replay: bool = False

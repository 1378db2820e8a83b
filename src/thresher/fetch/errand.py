"""For whom a request goes out, and on what terms."""

from dataclasses import dataclass

from thresher.fetch.governor import Governor
from thresher.fetch.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Errand:
    """`source` is part of every cache key: what was asked for one source is never handed to another.

    `max_age` is how many seconds old a kept copy may be; None leaves that to the server's word, 0 asks again
    always. `replay` takes kept copies only, however old, and never touches the network. `render` None: a
    browser comes in where the page turns out to be a shell that a script is to fill.
    """

    governor: Governor
    shelf: Shelf | None = None
    source: str = ""
    max_age: float | None = None
    render: bool | None = False
    replay: bool = False

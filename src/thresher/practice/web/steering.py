"""What can be done with a practice web, wherever it runs: in a thread of this process or in a process of its
own.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from thresher.practice.web.knob import Knob
from thresher.practice.web.log import Entry


class Steering(Protocol):
    """What can be done with a practice web, wherever it runs."""

    @property
    def port(self) -> int: ...

    @property
    def url(self) -> str:
        """Where every host name leads."""
        ...

    @property
    def rules(self) -> dict[str, str]:
        """The same for a resolver: patterns of host names, and where they lead."""
        ...

    def turn(self, *knobs: Knob) -> None:
        """Turn knobs, in the order in which they are to act."""
        ...

    def knobs(self) -> list[Knob]: ...

    def set_day(self, day: float) -> None: ...

    def set_time(self, at: datetime) -> None: ...

    def now(self) -> datetime: ...

    def log(self, host: str | None = None, since: int = 0) -> list[Entry]:
        """The requests in the order of their arrival: of one host or of all, after number `since`."""
        ...

    def until(self, holds: Callable[[list[Entry]], bool], seconds: float = 10.0) -> list[Entry]:
        """Wait until something holds for the log, and return it then."""
        ...

    def reset(self) -> None: ...

"""To which hosts a connection is kept open, and to how many at most.

A crawl of many hosts would otherwise end with more open connections than the system allows, each waiting for
a second request that never comes.
"""


class Idle:
    """Remembers who was asked last. Pure: the time comes in, and nothing is closed here."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._used: dict[str, float] = {}  # the longest unused first

    def keeps(self, host: str, now: float) -> bool:
        """Whether the connection that is used now may stay open afterwards."""
        while (oldest := next(iter(self._used), None)) is not None and self._used[
            oldest
        ] < now - self._seconds:
            del self._used[oldest]
        if self._used.pop(host, None) is None and len(self._used) >= self._most:
            return False
        self._used[host] = now
        return True

"""How many requests this process has sent to the web, how they ended and how long they took, for
monitoring.
"""

from collections import Counter

from thresher.core.histogram import Histogram

# `failed` are requests without an answer: no connection, no time left, an answer that is too large.
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx", "failed", "cached")
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class FetchTraffic:
    """Counters of one process, from its start. Redirects and robots.txt count, as the sites count them; a
    copy from the page cache was no request, and took no time.
    """

    def __init__(self) -> None:
        self.answers = Counter[str]()
        self.times = Histogram(BUCKETS)

    def note(self, status: int | None, seconds: float) -> None:
        """Count a request, by the status of its answer."""
        name = "failed" if status is None else f"{status // 100}xx"
        self.answers[name if name in CLASSES else "failed"] += 1
        self.times.note(seconds)

    def note_cached(self) -> None:
        """Count a page that needed no request."""
        self.answers["cached"] += 1

"""How many requests of the API this process has answered, and how long it took."""

from starlette.types import Message, Send

from thresher.admin.metrics import Metric, by_label, histogram
from thresher.core.clock import monotonic
from thresher.core.histogram import Histogram

CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Traffic:
    """Counters of one process, from its start. A time is that from the request to the head of its answer, so
    that a client which reads slowly does not count.
    """

    def __init__(self) -> None:
        self._answers = dict.fromkeys(CLASSES, 0)
        self._times = Histogram(BUCKETS)

    def note(self, status: int, seconds: float) -> None:
        self._answers[f"{status // 100}xx"] += 1
        self._times.note(seconds)

    def measured(self, send: Send) -> Send:
        """Count the answer of a request that begins now."""
        began = monotonic()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.note(message["status"], monotonic() - began)
            await send(message)

        return counted

    def metrics(self) -> list[Metric]:
        """The counters as metrics."""
        return [
            by_label(
                "thresher_http_requests_total",
                "counter",
                "Requests of the API that this process has answered, by class of status.",
                "class",
                CLASSES,
                self._answers,
            ),
            histogram(
                "thresher_http_request_duration_seconds", "Time to the head of the answer.", self._times
            ),
        ]

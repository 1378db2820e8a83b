"""What the engine tells a tracing system of: an attempt and its end, its fetches, its calls of models, and
turns that took long. Only where there is one; without it none of this is called.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from thresher.core.answer import DOLLAR, Usage
from thresher.core.errors import TaskError
from thresher.core.log_context import set_log_context
from thresher.core.page import Page, Via
from thresher.core.settlement import Settlement
from thresher.core.spans import Spans
from thresher.core.task import Task
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import FetchOptions
from thresher.fetch.request import Request

# A turn that takes longer than this is told. All of them would be more spans than everything else together.
SLOW_TURN_SECONDS = 0.1


@contextmanager
def attempt_span(spans: Spans, task: Task, app: str) -> Iterator[Callable[[Settlement], None]]:
    """The span of an attempt; what it yields is called with what was decided. Log lines name its trace."""
    with spans.attempt(task, app) as span:

        def decided(settlement: Settlement) -> None:
            span.set({"thresher.outcome": settlement.ending})
            if settlement.error is not None:
                span.fail(settlement.error.name, settlement.error.message)

        set_log_context(lambda: {"trace_id": span.trace_id})
        yield decided


async def fetch_in_span(spans: Spans, fetcher: Fetcher, request: Request, options: FetchOptions) -> Page:
    """Fetch within a span. It names the host: an address may hold more than a tracing system should know."""
    about = {"http.request.method": request.method, "server.address": _host(request.url)}
    with spans.call("fetch", about) as span:
        try:
            page = await fetcher.fetch(request, options)
        except TaskError as problem:
            span.set({"http.response.status_code": problem.status})
            raise
        span.set(
            {
                "http.response.status_code": page.status,
                "http.response.body.size": len(page.body),
                "thresher.fetch.cached": page.via is Via.CACHE,
                "thresher.fetch.via": page.via,
            }
        )
        return page


@contextmanager
def model_span(
    spans: Spans | None, provider: str, model: str, prompt: str
) -> Iterator[Callable[[int | None, Usage], None]]:
    """The span of one call of a model; what it yields is called with its cost, in millionths of a dollar."""
    if spans is None:
        yield lambda *_: None
        return
    about = {"gen_ai.provider.name": provider, "gen_ai.request.model": model, "thresher.prompt": prompt}
    with spans.call("model", about) as span:

        def paid(cost: int | None, usage: Usage) -> None:
            span.set(
                {
                    "gen_ai.usage.input_tokens": usage.input_tokens,
                    "gen_ai.usage.output_tokens": usage.output_tokens,
                    "thresher.cost_dollars": None if cost is None else cost / DOLLAR,
                }
            )

        yield paid


def tell_turn(spans: Spans, seconds: float, settled: int, claimed: int) -> None:
    """A turn that took long."""
    if seconds >= SLOW_TURN_SECONDS:
        spans.past("turn", seconds, {"thresher.settled": settled, "thresher.claimed": claimed})


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None  # the fetcher says what is wrong with it

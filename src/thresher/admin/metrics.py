"""Metrics for monitoring systems, in the text format that Prometheus reads.

No label has a value that came from outside: what a label may say is a fixed list, however many tasks, sources
and kinds there are.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from thresher.admin.costs import read_left
from thresher.core import errors
from thresher.core.answer import DOLLAR
from thresher.core.clock import MINUTE, SECOND
from thresher.core.errors import ThresherError
from thresher.core.histogram import Histogram
from thresher.core.settlement import Ending
from thresher.core.task import TERMINAL
from thresher.fetch.traffic import CLASSES, FetchTraffic
from thresher.store import metrics, overview, sources
from thresher.store.store import Store

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
RECENT_US = 5 * MINUTE
MAX_SOURCES = 1_000
DEPTHS = ("due", "delayed", "running", "failed")
GATE_STATES = ("open", "disabled", "paused", "tripped", "full", "rate")

OTHER = "other"


def _below(error: type[ThresherError]) -> Iterator[str]:
    for each in error.__subclasses__():
        if each.__module__ == errors.__name__ and not each.__name__.startswith("_"):
            yield each.__name__
        yield from _below(each)


# The classes of our tree, and the name under which a stage fails that returns `Failed`.
ERRORS = tuple(sorted({*_below(ThresherError), "Failed"}))

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: what follows the name of its metric, its labels, its value."""

    value: float
    labels: Labels = ()
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with its samples. `kind` is counter, gauge or histogram."""

    name: str
    kind: str
    says: str
    samples: Sequence[Sample]


def exposition(found: Iterable[Metric]) -> str:
    """Write metrics as Prometheus reads them."""
    lines = list[str]()
    for metric in found:
        lines += [f"# HELP {metric.name} {metric.says}", f"# TYPE {metric.name} {metric.kind}"]
        lines += (
            f"{metric.name}{each.suffix}{_braces(each.labels)} {each.value:.15g}" for each in metric.samples
        )
    return "\n".join(lines) + "\n"


def _braces(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels) + "}" if labels else ""


def gauge(name: str, says: str, value: float) -> Metric:
    """A metric of one value that may rise and fall."""
    return Metric(name, "gauge", says, (Sample(value),))


def by_label(
    name: str, kind: str, says: str, label: str, wanted: Iterable[str], values: Mapping[str, float]
) -> Metric:
    """A metric with one sample for each of these values of a label; what nothing was counted for is 0."""
    return Metric(name, kind, says, [Sample(values.get(each, 0), ((label, each),)) for each in wanted])


def _by_class(found: Mapping[str, int]) -> Counter[str]:
    """Errors that are none of ours count as one: an app may name them as it likes."""
    counted = Counter[str]()
    for name, number in found.items():
        counted[name if name in ERRORS else OTHER] += number
    return counted


def histogram(name: str, says: str, found: Histogram) -> Metric:
    """A metric from which quantiles are computed."""
    below = list(found.below())
    buckets = [Sample(number, (("le", bound),), "_bucket") for bound, number in below]
    count = below[-1][1]
    return Metric(
        name, "histogram", says, (*buckets, Sample(found.seconds, (), "_sum"), Sample(count, (), "_count"))
    )


def fetch_metrics(traffic: FetchTraffic) -> list[Metric]:
    """What this process has asked the web for. A server alone asks for next to nothing; workers do."""
    return [
        by_label(
            "thresher_fetches_total",
            "counter",
            "Requests that this process has sent to the web, by class of status; failed: no answer; cached: needed none.",
            "class",
            CLASSES,
            traffic.answers,
        ),
        histogram(
            "thresher_fetch_duration_seconds",
            "Time from connecting to the whole answer.",
            traffic.times,
        ),
    ]


def labelled(found: Iterable[Metric], labels: Labels) -> list[Metric]:
    """The same metrics with more labels, for a process beside others of its kind."""
    return [
        replace(metric, samples=[replace(each, labels=(*labels, *each.labels)) for each in metric.samples])
        for metric in found
    ]


def read_metrics(store: Store) -> list[Metric]:
    """What the database says of the queue, at a cost that does not grow with it."""
    left = read_left(store)
    with store.read() as session:
        now = store.backend.now(session)
        depths = overview.depths(session, now)
        ended = metrics.ended_since(session, now - RECENT_US)
        alive, oldest = metrics.workers_alive(session, now), metrics.oldest_ready(session)
        gates = sources.find_gates(session, only_sources=True, limit=MAX_SOURCES)
        fires_at = metrics.next_firing(session)
    states = Counter(sources.as_gate(row).why_closed(now) or "open" for row in gates)
    return [
        by_label(
            "thresher_tasks",
            "gauge",
            f"Tasks by state, counted up to {overview.MAX_COUNTED:,} each.",
            "state",
            DEPTHS,
            depths,
        ),
        *_recent(ended),
        gauge(
            "thresher_oldest_ready_seconds",
            "Age of the oldest task that could start now; 0 if there is none.",
            0 if oldest is None else max(0, now - oldest) / SECOND,
        ),
        gauge("thresher_workers_alive", "Workers that hold a lease.", alive),
        gauge(
            "thresher_schedule_overdue_seconds",
            "How long the schedule that is most overdue should have fired; 0 if none is.",
            0 if fires_at is None else max(0, now - fires_at) / SECOND,
        ),
        by_label(
            "thresher_sources", "gauge", "Sources by the state of their gate.", "state", GATE_STATES, states
        ),
        gauge(
            "thresher_model_spent_today_dollars", "What models have cost today (UTC).", left.spent / DOLLAR
        ),
        gauge(
            "thresher_model_left_today_dollars",
            "What models may still cost today (UTC): budget.day, less what is spent or reserved.",
            left.left / DOLLAR,
        ),
    ]


def _recent(ended: metrics.Ended) -> list[Metric]:
    """What has ended lately."""
    endings = sorted(TERMINAL)
    return [
        by_label(
            "thresher_recent_ended",
            "gauge",
            "Tasks that ended in the last five minutes, by outcome.",
            "outcome",
            endings,
            ended.tasks,
        ),
        by_label(
            "thresher_recent_ended_seconds",
            "gauge",
            "Seconds that the last attempts of these tasks took together, by outcome.",
            "outcome",
            endings,
            {state: took / SECOND for state, took in ended.took.items()},
        ),
        by_label(
            "thresher_recent_attempts",
            "gauge",
            "Attempts that ended in the last five minutes, by how they ended.",
            "outcome",
            sorted(Ending),
            ended.attempts,
        ),
        by_label(
            "thresher_recent_errors",
            "gauge",
            "Attempts that ended with an error in the last five minutes, by its class; other is no class of ours.",
            "error",
            (*ERRORS, OTHER),
            _by_class(ended.errors),
        ),
    ]

"""Write the dashboard for Grafana, deploy/grafana/thresher.json: `python -m tests.house.dashboard`.

Grafana's own files are long, and most of each panel is the same in all of them. Here a panel is a title,
its queries and a unit; where it stands follows from the order.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.house.paper import ROOT

FILE = ROOT / "deploy" / "grafana" / "thresher.json"
WIDTH = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
JOB = 'job=~"$job"'
RATE = "$__rate_interval"


@dataclass(frozen=True)
class Panel:
    """One panel. `queries` are pairs of PromQL and legend; `limits` the values at which it turns yellow and
    red.
    """

    title: str
    says: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 12
    height: int = 8
    limits: tuple[float, float] | None = None
    stacked: bool = False


def told(metric: str, *matchers: str) -> str:
    """A metric with the job that is looked at, and more."""
    return f"{metric}{{{', '.join((JOB, *matchers))}}}"


def newest(metric: str, *matchers: str, by: str = "") -> str:
    """A figure of the database: every server tells the same."""
    return f"max{f' by ({by})' if by else ''} ({told(metric, *matchers)})"


def rate(metric: str, *matchers: str, by: str = "") -> str:
    """A counter of processes: all of them together."""
    return f"sum{f' by ({by})' if by else ''} (rate({told(metric, *matchers)}[{RATE}]))"


def quantile(share: float, metric: str) -> str:
    return f"histogram_quantile({share}, {rate(f'{metric}_bucket', by='le')})"


def stat(
    title: str, says: str, query: str, unit: str = "short", limits: tuple[float, float] | None = None
) -> Panel:
    return Panel(title, says, ((query, ""),), unit, "stat", 4, 4, limits)


ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    (
        "Now",
        (
            stat("Workers alive", "Workers that hold a lease.", newest("thresher_workers_alive")),
            stat(
                "Waiting",
                "Tasks that could start, as far as their gates let them.",
                newest("thresher_tasks", 'state="due"'),
            ),
            stat(
                "Oldest ready task",
                "How long the oldest task has waited that could start now.",
                newest("thresher_oldest_ready_seconds"),
                "s",
                (300, 900),
            ),
            stat(
                "Failed tasks",
                "Tasks that failed for good and were not retried by a person.",
                newest("thresher_tasks", 'state="failed"'),
                limits=(1, 100),
            ),
            stat(
                "Sources disabled",
                "Sources that are closed until someone enables them.",
                newest("thresher_sources", 'state="disabled"'),
                limits=(1, 3),
            ),
            stat(
                "Schedules overdue",
                "How long the most overdue schedule should have fired.",
                newest("thresher_schedule_overdue_seconds"),
                "s",
                (120, 600),
            ),
        ),
    ),
    (
        "Queue",
        (
            Panel(
                "Tasks by state",
                "Depth of the queue. Counts end at 10,000.",
                ((newest("thresher_tasks", 'state!="failed"', by="state"), "{{state}}"),),
            ),
            Panel(
                "Oldest ready task",
                "Rises while nobody works, or too few do.",
                ((newest("thresher_oldest_ready_seconds"), "age"),),
                "s",
            ),
            Panel(
                "Tasks ended, per minute",
                "Throughput, by how they ended.",
                ((f"{newest('thresher_recent_ended', by='outcome')} / 5", "{{outcome}}"),),
                stacked=True,
            ),
            Panel(
                "Seconds an attempt took",
                "The average of the last attempts of tasks that ended in five minutes.",
                (
                    (
                        f"{newest('thresher_recent_ended_seconds', by='outcome')} / ({newest('thresher_recent_ended', by='outcome')} > 0)",
                        "{{outcome}}",
                    ),
                ),
                "s",
            ),
            Panel(
                "Attempts, per minute",
                "Also those after which a task is tried again or waits.",
                ((f"{newest('thresher_recent_attempts', by='outcome')} / 5", "{{outcome}}"),),
                stacked=True,
            ),
            Panel(
                "Errors by class, per minute",
                "What attempts ended with that were not to end so.",
                ((f"{newest('thresher_recent_errors', by='error')} / 5 > 0", "{{error}}"),),
                stacked=True,
            ),
        ),
    ),
    (
        "Web and models",
        (
            Panel(
                "Sources whose gate is closed",
                "By reason. Full and rate are ordinary work.",
                ((newest("thresher_sources", 'state!="open"', by="state"), "{{state}}"),),
                stacked=True,
            ),
            Panel(
                "Requests to the web, per second",
                "By class of status, of processes whose figures Prometheus reads.",
                ((rate("thresher_fetches_total", by="class"), "{{class}}"),),
                "reqps",
                stacked=True,
            ),
            Panel(
                "Time of requests to the web",
                "From connecting to the whole answer.",
                (
                    (quantile(0.5, "thresher_fetch_duration_seconds"), "half"),
                    (quantile(0.95, "thresher_fetch_duration_seconds"), "95 %"),
                ),
                "s",
            ),
            Panel(
                "Cost of models today",
                "Starts at 0 at midnight UTC. The sum of both is budget.day, less what running calls have reserved.",
                (
                    (newest("thresher_model_spent_today_dollars"), "spent"),
                    (newest("thresher_model_left_today_dollars"), "left"),
                ),
                "currencyUSD",
                stacked=True,
            ),
        ),
    ),
    (
        "API",
        (
            Panel(
                "Requests answered, per second",
                "By class of status.",
                ((rate("thresher_http_requests_total", by="class"), "{{class}}"),),
                "reqps",
                stacked=True,
            ),
            Panel(
                "Time to the head of an answer",
                "",
                (
                    (quantile(0.5, "thresher_http_request_duration_seconds"), "half"),
                    (quantile(0.95, "thresher_http_request_duration_seconds"), "95 %"),
                ),
                "s",
            ),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana imports it."""
    return {
        "__inputs": [],
        "__requires": [{"type": "grafana", "id": "grafana", "name": "Grafana", "version": "9.0.0"}],
        "uid": "thresher",
        "title": "Thresher",
        "description": "Queue, workers, sources, requests and costs of Thresher, from its /metrics.",
        "tags": ["thresher"],
        "schemaVersion": 37,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "timezone": "",
        "templating": {"list": _variables()},
        "annotations": {"list": []},
        "links": [],
        "panels": list(_panels()),
    }


def _variables() -> list[dict[str, Any]]:
    jobs = "label_values(thresher_workers_alive, job)"
    return [
        {
            "name": "datasource",
            "label": "Prometheus",
            "type": "datasource",
            "query": "prometheus",
            "current": {},
        },
        {
            "name": "job",
            "type": "query",
            "datasource": SOURCE,
            "query": {"query": jobs, "refId": "job"},
            "definition": jobs,
            "refresh": 2,
            "includeAll": True,
            "allValue": ".*",
            "multi": True,
            "current": {"text": "All", "value": "$__all"},
        },
    ]


def _panels() -> Iterator[dict[str, Any]]:
    number = top = 0
    for title, panels in ROWS:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
            "gridPos": _at(0, top, WIDTH, 1),
        }
        top, left, tallest = top + 1, 0, 0
        for panel in panels:
            if left + panel.width > WIDTH:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            yield _panel(panel, number, _at(left, top, panel.width, panel.height))
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _at(left: int, top: int, width: int, height: int) -> dict[str, int]:
    return {"x": left, "y": top, "w": width, "h": height}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.says,
        "datasource": SOURCE,
        "gridPos": place,
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": SOURCE,
                "expr": query,
                "legendFormat": legend,
                "range": True,
            }
            for at, (query, legend) in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel),
    }


def _defaults(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.limits:
        steps += [
            {"color": color, "value": limit}
            for color, limit in zip(("yellow", "red"), panel.limits, strict=True)
        ]
    drawn = {
        "fillOpacity": 20 if panel.stacked else 0,
        "stacking": {"mode": "normal" if panel.stacked else "none"},
    }
    custom = {"custom": drawn} if panel.kind == "timeseries" else {}
    return {"unit": panel.unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps}, **custom}


def _options(panel: Panel) -> dict[str, Any]:
    if panel.kind == "stat":
        return {
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "colorMode": "value",
        }
    return {
        "legend": {"displayMode": "list", "placement": "bottom"},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }


def text() -> str:
    return json.dumps(dashboard(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")

"""Spans: what a collector is told of attempts, fetches and calls of models. And that a collector which is
slow, away or hangs costs nothing but spans.
"""

import logging
import threading
import time
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace.export import SpanExportResult

from tests.engine.asking import ITEM, MODEL, Study, page
from tests.harness.collector import GOOD, HANGS, REFUSES, Collector, collecting, told
from thresher import Done, NewTask
from thresher.core.evidence import Material
from thresher.core.log_context import log_fields
from thresher.core.task import Task, TaskId
from thresher.engine import otel
from thresher.engine.otel import OtelSpans, _Told

SECRET = "Gr8-Horse-Battery9"
PATIENCE = 10.0
SEED = "postgresql://db/queue"


def spans_to(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> OtelSpans:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    return OtelSpans(SEED)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting(GOOD) as found:
        yield found


def test_a_collector_is_told_of_attempts_and_of_what_is_called_in_them(workshop, web, collector, monkeypatch):
    async def perform(ctx):
        traces.append(log_fields()["trace_id"])
        if "parent" in ctx.task.payload:
            await ctx.fetch(f"https://ladder.example/nothing-here?token={SECRET}")
        answer = await ctx.ask("extract", ITEM, {"page": Material(page(3))})
        return Done(str(answer.value["title"]), children=(NewTask("read", {"parent": 1}, key="child"),))

    traces = list[str]()
    study = Study(workshop, web, perform)
    study.spans = spans_to(collector, monkeypatch)
    registry = study.open()
    (parent,) = study.shop.put(registry, NewTask("read", {}))
    study.drain(registry)
    study.spans.close()
    first, second = sorted(collector.named("read.read"), key=lambda span: span.start_time_unix_nano)
    about, other = told(first.attributes), told(second.attributes)
    assert about["thresher.task.id"] == parent
    assert (about["thresher.app"], about["thresher.task.stage"], about["thresher.outcome"]) == (
        "study",
        "read",
        "done",
    )
    assert other["thresher.task.tracking_id"] == other["thresher.task.parent_id"] == parent
    assert (other["thresher.outcome"], other["error.type"]) == ("failed", "Gone")
    assert (first.status.code, second.status.code) == (0, 2)
    assert traces == [first.trace_id.hex(), second.trace_id.hex()], "log lines name the trace"
    assert first.parent_span_id == second.parent_span_id == b"", "nobody waits for a child"
    (link,) = second.links
    assert (link.trace_id, link.span_id) == (first.trace_id, first.span_id)
    (fetch,) = collector.named("fetch")
    assert (fetch.trace_id, fetch.parent_span_id) == (second.trace_id, second.span_id)
    fetched = told(fetch.attributes)
    assert (fetched["server.address"], fetched["http.response.status_code"]) == ("ladder.example", 404)
    (model,) = collector.named("model")
    assert (model.trace_id, model.parent_span_id) == (first.trace_id, first.span_id)
    asked = told(model.attributes)
    assert (asked["gen_ai.provider.name"], asked["gen_ai.request.model"]) == ("practice", MODEL)
    assert asked["gen_ai.usage.input_tokens"] > 0
    assert asked["thresher.cost_dollars"] > 0
    assert collector.resource["service.name"] == "thresher"
    assert SECRET not in str(collector.spans)


@pytest.mark.parametrize("mood", [REFUSES, HANGS, "away"])
def test_a_collector_that_takes_nothing_costs_spans_and_nothing_else(
    workshop, web, monkeypatch, caplog, mood
):
    async def perform(ctx):
        return Done()

    caplog.set_level(logging.WARNING)
    with collecting(mood if mood != "away" else GOOD) as collector:
        if mood == "away":
            collector.url = "http://127.0.0.1:9"
        monkeypatch.setattr(otel, "CLOSING_SECONDS", 0.3)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "64")
        monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16")
        study = Study(workshop, web, perform, through=())
        study.spans = spans_to(collector, monkeypatch)
        registry = study.open()
        ids = study.shop.put(registry, *(NewTask("read", {}, key=str(number)) for number in range(200)))
        began = time.monotonic()
        study.drain(registry)
        worked = time.monotonic() - began
        study.spans.close()
        assert time.monotonic() - began - worked < 3
        assert [study.shop.state(task_id) for task_id in ids] == ["succeeded"] * 200
        collector.released.set()
        for thread in threading.enumerate():
            if thread.name == "spans":
                thread.join(PATIENCE)
                assert not thread.is_alive(), "it goes on trying after the end"
        said = [each for each in caplog.records if each.name.startswith(("opentelemetry", "thresher.otel"))]
        assert [(each.name, each.levelname) for each in said] == [("thresher.otel", "WARNING")]


class Away:
    """An exporter that is away for a while."""

    def __init__(self) -> None:
        self.is_away = True

    def export(self, spans):
        if self.is_away:
            raise OSError("no route to host")
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None: ...


def test_that_a_collector_is_away_is_said_once_and_that_it_is_back(caplog):
    caplog.set_level(logging.INFO, "thresher.otel")
    inner = Away()
    exporter = _Told(inner)
    for _ in range(3):
        exporter.export([])
    inner.is_away = False
    for _ in range(3):
        exporter.export([])
    assert [each.levelname for each in caplog.records if each.name == "thresher.otel"] == ["WARNING", "INFO"]


def test_every_worker_counts_the_same_trace_for_a_task_and_another_for_another_database(
    collector, monkeypatch
):
    task = Task(TaskId(5), 2, "read", "read", {}, {}, None, TaskId(5), None, 0, 0, 0)
    here, there, elsewhere = (
        spans_to(collector, monkeypatch),
        spans_to(collector, monkeypatch),
        OtelSpans("another"),
    )
    found = []
    for each in (here, there, elsewhere):
        with each.attempt(task, "study") as span:
            found.append(span.trace_id)
        each.close()
    assert found[0] == found[1] != found[2]
    again = Task(*(*task[:1], 3, *task[2:]))
    with (third := spans_to(collector, monkeypatch)).attempt(again, "study") as span:
        assert span.trace_id == found[0], "each attempt of a task stands in its trace"
    third.close()

"""Whether spans are sent: by the standard variables or a flag, refused by name where they cannot be. And the
file with a worker's figures.
"""

import sys

import pytest

from tests.cli.conftest import Thresher
from thresher.cli.metrics_file import check_metrics_file, write_metrics
from thresher.cli.otel import is_wanted
from thresher.core.errors import ConfigError
from thresher.fetch.traffic import FetchTraffic

HERE = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("flag", "environ", "wanted"),
    [
        (None, {}, False),
        (None, HERE, True),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example/v1/traces"}, True),
        (None, {**HERE, "OTEL_SDK_DISABLED": "true"}, False),
        (None, {**HERE, "OTEL_TRACES_EXPORTER": "none"}, False),
        (None, {"OTEL_SERVICE_NAME": "crawler"}, False),
        (True, {}, True),
        (False, HERE, False),
    ],
)
def test_the_standard_variables_or_a_flag_send_spans(flag, environ, wanted):
    assert is_wanted(flag, environ) is wanted


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({**HERE, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'"),
        ({**HERE, "OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER is 'zipkin'"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:4318"}, "must be a URL such as http://127.0.0.1:4318"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1"}, "must be a URL such as http://127.0.0.1:4318"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(environ, named):
    with pytest.raises(ConfigError) as refused:
        is_wanted(None, environ)
    assert named in str(refused.value)


def test_without_the_extra_one_line_says_what_to_install(queue: Thresher, monkeypatch):
    monkeypatch.setitem(sys.modules, "thresher.engine.otel", None)
    told = queue("run", "--otel")
    assert (told.code, len(told.err.splitlines())) == (3, 1)
    assert "pip install 'thresher[otel]'" in told.err


def test_nothing_of_opentelemetry_is_loaded_unless_it_is_asked_for(queue: Thresher, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("thresher.engine.otel")]:
        monkeypatch.delitem(sys.modules, name)
    assert queue("run").code == 0
    assert "thresher.engine.otel" not in sys.modules


def test_the_figures_of_a_worker_are_a_file_that_prometheus_reads(tmp_path):
    traffic, file = FetchTraffic(), tmp_path / "worker.prom"
    for status in (200, 204, 404, 999, None):
        traffic.note(status, 0.2)
    traffic.note_cached()
    write_metrics(file, traffic, 'crawler "1"\\\n')
    lines = file.read_text().splitlines()
    assert 'thresher_fetches_total{worker="crawler 1",class="2xx"} 2' in lines
    assert 'thresher_fetches_total{worker="crawler 1",class="failed"} 2' in lines
    assert 'thresher_fetches_total{worker="crawler 1",class="cached"} 1' in lines
    assert 'thresher_fetch_duration_seconds_bucket{worker="crawler 1",le="0.25"} 5' in lines
    assert list(tmp_path.iterdir()) == [file], "no half of a file stays"


def test_a_file_that_nobody_would_read_or_that_cannot_be_is_refused(tmp_path):
    check_metrics_file(None)
    check_metrics_file(tmp_path / "a.prom")
    for wrong in (tmp_path / "a.txt", tmp_path / "no" / "a.prom"):
        with pytest.raises(ConfigError, match="--metrics-file"):
            check_metrics_file(wrong)

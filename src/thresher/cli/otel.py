"""Whether a command tells a collector of OpenTelemetry what it does: with `--otel`, or where the standard
variables name a collector.
"""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlsplit

import typer

from thresher.config.project import hide_password
from thresher.core.errors import ConfigError
from thresher.runtime import Runtime, database_file

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
OURS = "http/protobuf"
EXTRA = "OpenTelemetry needs an extra: pip install 'thresher[otel]'"

Otel = Annotated[
    bool | None,
    typer.Option(
        "--otel/--no-otel",
        help="Send spans to an OpenTelemetry collector. Default: if OTEL_EXPORTER_OTLP_ENDPOINT is set.",
        show_default=False,
    ),
]


@contextmanager
def with_spans(runtime: Runtime, url: str, wanted: bool | None) -> Iterator[Runtime]:
    """The runtime with spans, if they are wanted. They are sent by a thread, so this is called after every
    fork.
    """
    if not is_wanted(wanted, os.environ):
        yield runtime
        return
    try:
        from thresher.engine.otel import OtelSpans  # noqa: PLC0415  an extra
    except ImportError as problem:
        raise ConfigError(f"{EXTRA} ({problem})") from None
    spans = OtelSpans(_database_name(url))
    try:
        yield replace(runtime, spans=spans)
    finally:
        spans.close()


def is_wanted(flag: bool | None, environ: Mapping[str, str]) -> bool:
    """Whether spans are sent. Refuses variables that this cannot work with."""
    endpoint = next((environ[name] for name in ENDPOINTS if environ.get(name)), None)
    off = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower()
    wanted = (endpoint is not None and not off and none != "none") if flag is None else flag
    if not wanted:
        return False
    if none not in ("", "otlp"):
        raise ConfigError(
            f"OTEL_TRACES_EXPORTER is {none[:40]!r}; Thresher sends spans by otlp alone, or none"
        )
    for name in PROTOCOLS:
        if environ.get(name, OURS) not in ("", OURS):
            raise ConfigError(
                f"{name} is {environ[name][:40]!r}; Thresher speaks {OURS}: set it to that, or unset it"
            )
    if endpoint is not None and not _is_address(endpoint):
        raise ConfigError(f"{' or '.join(ENDPOINTS)} must be a URL such as http://127.0.0.1:4318")
    return True


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _database_name(url: str) -> str:
    """What tells one database's tasks from another's: its address, for all who work on it."""
    file = database_file(url)
    return hide_password(url) if file is None else f"{socket.gethostname()}:{file.resolve()}"

"""The figures of one worker in a file, for the textfile collector of Prometheus' node exporter. A worker
opens no port.
"""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from thresher.admin.metrics import exposition, fetch_metrics, labelled
from thresher.core.errors import ConfigError
from thresher.fetch.traffic import FetchTraffic

EVERY_SECONDS = 10.0

MetricsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write metrics of this worker to a file every 10 seconds; its name ends in .prom.",
    ),
]


def check_metrics_file(file: Path | None) -> None:
    """Refuse a file that the collector would not read, or that cannot be written."""
    if file is None:
        return
    if file.suffix != ".prom":
        raise ConfigError(
            f"--metrics-file must end in .prom, or the node exporter does not read it; got {file}"
        )
    try:
        write_metrics(file, FetchTraffic(), "")
    except OSError as problem:
        raise ConfigError(f"--metrics-file {file} cannot be written: {problem.strerror}") from None


async def keep_writing(file: Path, traffic: FetchTraffic, worker: str) -> None:
    """Write them until cancelled. A disk that is full for a while costs some figures."""
    while True:
        await asyncio.to_thread(_try_to_write, file, traffic, worker)
        await asyncio.sleep(EVERY_SECONDS)


def write_metrics(file: Path, traffic: FetchTraffic, worker: str) -> None:
    """Replace the file at one stroke: a collector must not read half of one."""
    name = "".join(char for char in worker if char.isprintable() and char not in '"\\')
    text = exposition(labelled(fetch_metrics(traffic), (("worker", name),)))
    new = file.with_name(f".{file.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def _try_to_write(file: Path, traffic: FetchTraffic, worker: str) -> None:
    try:
        write_metrics(file, traffic, worker)
    except OSError:
        return  # told when the worker started, if it was wrong then

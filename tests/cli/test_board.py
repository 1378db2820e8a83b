import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.conftest import Thresher, added
from thresher.admin.gates import GateView
from thresher.admin.status import KindProgress, Progress
from thresher.cli.format import ago, clock_time, number, plain, short, span, when
from thresher.cli.run import picture, plain_line
from thresher.core.clock import DAY, FOREVER, HOUR, MINUTE, SECOND

NOW = 1_700_000_000 * SECOND


def closed(state: str, why: str, opens_at: int | None = None) -> GateView:
    return GateView(
        "source:doors",
        "doors",
        "test",
        state,
        None,
        why,
        opens_at,
        None,
        1,
        0,
        2,
        5,
        300.0,
        0,
        None,
        None,
        1_200,
    )


def progress(*gates: GateView) -> Progress:
    kinds = [
        KindProgress("page", 50, 1_000, 2, 3, 46, 4, 0, 1),
        KindProgress("list", 10, 10, 0, 0, 10, 0, 0, 0),
    ]
    return Progress(NOW, kinds, 5, 6, NOW + SECOND, list(gates))


def drawn(value: object) -> str:
    out = StringIO()
    Console(file=out, width=140, force_terminal=False).print(value)
    return out.getvalue()


@pytest.mark.promise(20)
def test_the_board_shows_each_kind_and_the_gates_that_hold_it_up():
    shown = drawn(
        picture(progress(closed("paused", "tea", NOW + MINUTE), closed("full", "2 of 2 in flight")))
    )
    for words in ("page", "50 / 1,000", "2 running, 3 retrying, 4 filtered, 1 failed", "10 / 10"):
        assert words in shown
    for words in ("paused tea, opens in 1m", "full 2 of 2 in flight", "1,200 waiting"):
        assert words in shown


def test_a_plain_line_leaves_the_ordinary_work_of_gates_out():
    line = plain_line(progress(closed("full", "2 of 2 in flight"), closed("disabled", "captcha")))
    assert line == (
        "page 50/1,000 (2 running, 3 retrying, 4 filtered, 1 failed); list 10/10"
        " | source:doors disabled: captcha, opens when you enable it, 1,200 waiting"
    )


def test_on_a_terminal_there_are_bars(queue: Thresher, project: Path):
    added(queue, "free")
    near, far = pty.openpty()
    terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", "run"], cwd=project, stdout=far, stderr=far, env=terminal
    )
    os.close(far)
    shown = b""
    try:
        while part := os.read(near, 65_536):
            shown += part
    except OSError:  # the far side has hung up
        pass
    assert process.wait(timeout=30) == 0
    os.close(near)
    text = shown.decode()
    assert "━" in text
    assert "1 / 1" in text


def test_numbers_are_told_as_people_read_them():
    given = {0: "0ms", 0.34: "340ms", 1: "1s", 59.6: "1m", 200: "3m 20s", 7_500: "2h 5m", 400_000: "4d 15h"}
    assert {seconds: span(seconds) for seconds in given} == given
    assert when(NOW + HOUR, NOW).startswith("in 1h (")
    assert when(NOW - SECOND, NOW).startswith("1s ago")
    assert (when(None, NOW), when(FOREVER, NOW), ago(None, NOW)) == ("–", "for ever", "–")
    assert clock_time(NOW, NOW) == "22:13:20Z"
    assert clock_time(NOW + DAY, NOW) == "2023-11-15 22:13:20Z"
    assert (number(1, "task"), number(1_200, "task"), number(2, "child", "children")) == (
        "1 task",
        "1,200 tasks",
        "2 children",
    )
    assert short("a\n b" + "c" * 100, 10) == "a bcccccc…"
    assert plain("a\x1b[31m\x07b\nc") == "a\ufffd[31m\ufffdb\nc"

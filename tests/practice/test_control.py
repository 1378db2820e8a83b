"""The web in a process of its own: steered over HTTP, heard on loopback only, gone without a trace."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta

import psutil
import pytest

from tests.practice.browse import get
from thresher.practice.web import (
    CONTROL,
    DAY_ZERO,
    Knob,
    PracticeWeb,
    RemoteWeb,
    Steering,
    Trouble,
    practice_process,
)

LINE = [sys.executable, "-m", "thresher.practice.web"]


@pytest.fixture(scope="module")
def remote() -> Iterator[RemoteWeb]:
    with practice_process(seed=7) as web:
        yield web


def test_a_process_says_where_it_is_in_one_line():
    process = subprocess.Popen(
        [*LINE, "--seed", "5", "--day", "2"], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    said = json.loads(process.stdout.readline())
    assert said == {
        "port": said["port"],
        "url": f"http://127.0.0.1:{said['port']}",
        "control": CONTROL,
        "seed": 5,
        "day": 2.0,
    }
    assert RemoteWeb(said["port"]).now() == DAY_ZERO + timedelta(days=2)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_knobs_clock_log_and_reset_work_from_outside(remote: RemoteWeb):
    remote.reset()
    knob = Knob(Trouble.RATE_LIMITED, "www.acme.example", seconds=4, times=1)
    remote.turn(knob)
    assert remote.knobs() == [knob]
    assert get(remote, "https://www.acme.example/").headers["retry-after"] == "4"
    remote.set_day(5)
    assert remote.now() == DAY_ZERO + timedelta(days=5)
    remote.set_time(DAY_ZERO + timedelta(hours=7))
    assert remote.now() == DAY_ZERO + timedelta(hours=7)
    (entry,) = remote.log("www.acme.example")
    assert (entry.status, entry.path, entry.concurrency) == (429, "/", 1)
    remote.reset()
    assert (remote.knobs(), remote.log(), remote.now()) == ([], [], DAY_ZERO)


def test_the_web_in_a_thread_can_be_steered_from_outside_too(web: PracticeWeb):
    remote = RemoteWeb(web.port)
    remote.turn(Knob(Trouble.STATUS, status=418, times=1))
    assert get(web, "https://www.acme.example/").status == 418
    assert [(each.number, each.status, each.arrived) for each in remote.log()] == [
        (each.number, each.status, each.arrived) for each in web.log()
    ]


def test_time_can_be_moved_on_by_days(web: PracticeWeb):
    for _ in range(2):
        get(web, f"http://{CONTROL}/clock", "POST", {"days": 1.5})
    assert web.now() == DAY_ZERO + timedelta(days=3)


def test_control_is_not_in_the_log(remote: RemoteWeb):
    remote.reset()
    remote.knobs()
    assert remote.log() == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/knobs", {"trouble": "nonsense"}),
        ("/knobs", [{"trouble": "slow"}, {"trouble": "slow", "nonsense": 1}]),
        ("/knobs", b"{"),
        ("/clock", {"day": "tomorrow"}),
        ("/clock", {"day": 10**9}),
        ("/clock", {"at": "2026-03-02"}),
        ("/clock", {"at": "soon"}),
        ("/clock", [1]),
    ],
)
def test_a_command_that_is_none_is_refused_with_a_reason(web: PracticeWeb, target: str, said: object):
    got = get(web, f"http://{CONTROL}{target}", "POST", said)
    assert (got.status, len(got.json["error"]) > 10) == (400, True)
    assert web.knobs() == []
    assert web.now() == DAY_ZERO


def test_both_ways_to_steer_know_the_same(remote: RemoteWeb, web: PracticeWeb):
    local: Steering = web
    outside: Steering = remote
    known = {name for name in vars(Steering) if not name.startswith("_")}
    assert (
        {name for name in dir(local) if name in known}
        == {name for name in dir(outside) if name in known}
        == known
    )
    assert (local.rules, outside.rules) == ({"*": local.url}, {"*": outside.url})
    with pytest.raises(TimeoutError, match="did not come to this"):
        outside.until(lambda log: False, seconds=0.05)


def test_an_unknown_command_names_those_there_are(web: PracticeWeb):
    got = get(web, f"http://{CONTROL}/nonsense")
    assert got.status == 404
    assert "/knobs" in got.json["error"]


def test_a_refused_command_raises_in_the_client(remote: RemoteWeb):
    with pytest.raises(ValueError, match="out of reach"):
        remote.set_day(10**9)


@pytest.mark.promise(17)
def test_nothing_listens_on_anything_but_loopback():
    with practice_process() as remote:
        found = {
            (each.laddr.ip, each.laddr.port)
            for child in psutil.Process().children()
            for each in child.net_connections("inet")
            if each.status == psutil.CONN_LISTEN and each.laddr.port == remote.port
        }
        assert found == {("127.0.0.1", remote.port)}
    with PracticeWeb() as web:
        mine = {
            each.laddr.ip
            for each in psutil.Process().net_connections("inet")
            if each.status == psutil.CONN_LISTEN and each.laddr.port == web.port
        }
        assert mine == {"127.0.0.1"}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_at_a_signal_even_with_requests_hanging(how: signal.Signals):
    process = subprocess.Popen(LINE, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    remote = RemoteWeb(json.loads(process.stdout.readline())["port"])
    remote.turn(Knob(Trouble.HANG, "www.acme.example"))
    wire = socket.create_connection(("127.0.0.1", remote.port))
    wire.sendall(b"GET / HTTP/1.1\r\nHost: www.acme.example\r\n\r\n")
    remote.until(lambda log: len(log) == 1)
    process.send_signal(how)
    assert process.wait(20) == 0
    wire.close()
    process.stdout.close()
    process.stdin.close()


def test_a_process_ends_when_who_started_it_is_killed():
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen({LINE!r}, stdout=subprocess.PIPE, stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True); child.stdout.readline(); print('up', flush=True); sys.stdin.read()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    child = psutil.Process(int(parent.stdout.readline()))
    assert parent.stdout.readline() == "up\n"
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(20)
    child.wait(20)
    parent.stdout.close()
    parent.stdin.close()


def test_a_stopped_web_leaves_no_thread_no_socket_and_no_open_connection():
    threads, files = threading.active_count(), psutil.Process().num_fds()
    for _ in range(3):
        with PracticeWeb() as web:
            web.turn(Knob(Trouble.HANG, "slow.example"))
            wire = socket.create_connection(("127.0.0.1", web.port))
            wire.sendall(b"GET / HTTP/1.1\r\nHost: slow.example\r\n\r\n")
            web.until(lambda log: len(log) == 1)
        assert wire.recv(100) == b""
        wire.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", web.port))
    assert threading.active_count() == threads
    assert psutil.Process().num_fds() <= files + 1


def test_a_web_that_was_stopped_can_be_read_and_stopped_again():
    with PracticeWeb() as web:
        get(web, "https://www.acme.example/")
    assert len(web.log()) == 1
    web.stop()


@pytest.mark.parametrize("words", [["--port", "99999"], ["--day", "1000000"], ["--seed", "x"]])
def test_a_bad_option_is_refused_before_anything_listens(words: list[str]):
    ran = subprocess.run([*LINE, *words], capture_output=True, text=True, check=False, timeout=30)
    assert (ran.returncode, bool(ran.stderr), ran.stdout) == (2, True, "")

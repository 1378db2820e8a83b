"""`thresher serve` and `thresher keys` as a person uses them: real processes, real signals."""

import asyncio
import json
import re
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.apps.jobs.cli.project import company
from tests.cli.conftest import Thresher, folder, thresher  # noqa: F401  fixtures
from tests.harness.forks import Command
from tests.harness.schemas import SCHEMAS
from tests.web.conftest import PATIENCE, PROJECT, Api, served, workshop
from thresher.admin.records import write_records
from thresher.core.errors import UsageError
from thresher.runtime import opened_store
from thresher.web.server import address_of, bind, is_loopback


@pytest.fixture
def project(folder: Path) -> Path:  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT)
    return folder


@contextmanager
def serving(*argv: str) -> Iterator[tuple[Command, str]]:
    """A server in a process of its own, and what it said when it was ready."""
    process = Command("serve", "--port", "0", *argv)
    try:
        said = process.stdout.readline()
        assert said, process.communicate(PATIENCE)[1]
        yield process, said
    finally:
        process.kill()
        process.close()


@contextmanager
def started(*argv: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The same from the command line on, as a person starts it."""
    line = [sys.executable, "-m", "thresher", "serve", "--port", "0", *argv]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, process.communicate()[1]
        yield process, said
    finally:
        process.kill()
        process.communicate()


def address(said: str) -> str:
    found = re.search(r"http://[^/\s]+(?=/api)", said)
    assert found, said
    return found[0]


def key(thresher: Thresher, *argv: str | int) -> str:  # noqa: F811
    made = thresher("keys", "create", *argv, "--json")
    assert made.code == 0, made.err
    return str(made.json["key"])


def test_a_server_without_keys_says_how_to_make_one_and_stops_when_told(project):
    with started() as (process, said):
        assert "thresher keys create me --scope read --scope write" in said
        assert f"The dashboard is at {address(said)}/ " in said
        api = Api(address(said))
        assert api.get("/api/health") == {"status": "ok"}
        api.ask("GET", "/api/status").problem(401)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (0, ""), err


@pytest.mark.promise(20)
def test_a_server_without_a_worker_says_who_would_do_the_work(project):
    with serving() as (process, _):
        said = [process.stdout.readline(), process.stdout.readline()]
        assert "There is no administrator yet" in said[0]
        assert "No worker is running" in said[1]
        assert "thresher worker" in said[1]


def test_ctrl_c_ends_a_server_as_it_ends_every_command(project):
    with started("--json") as (process, _):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 130


@pytest.mark.promise(17)
def test_an_address_that_others_reach_needs_a_key_first(project, thresher):  # noqa: F811
    for host in ("0.0.0.0", "::", ""):
        refused = thresher("serve", "--host", host, "--port", "0")
        assert refused.code == 2
    assert "thresher keys create NAME --scope read" in thresher("serve", "--host", "0.0.0.0").err
    token = key(thresher, "anna", "--scope", "read")
    with serving("--host", "0.0.0.0") as (_, said):
        port = address(said).rpartition(":")[2]
        assert Api(f"http://127.0.0.1:{port}", token).ask("GET", "/api/status").status == 200
    assert thresher("keys", "revoke", "anna").code == 0
    assert thresher("serve", "--host", "0.0.0.0", "--port", "0").code == 2


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("0x7f.1", True),
        ("169.254.169.254", False),
        ("::ffff:10.0.0.1", False),
    ],
)
def test_only_loopback_counts_as_near(host, near):
    assert is_loopback(host) is near


@pytest.mark.parametrize(
    ("family", "host", "told"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "0.0.0.0", "127.0.0.1"),
        (socket.AF_INET6, "::1", "[::1]"),
        (socket.AF_INET6, "::", "[::1]"),
    ],
)
def test_a_server_on_every_address_tells_one_that_a_browser_opens(family, host, told):
    with socket.socket(family) as bound:
        bound.bind((host, 0))
        assert address_of(bound) == f"http://{told}:{bound.getsockname()[1]}"


def test_an_address_that_cannot_be_had_is_told_with_advice(project, thresher):  # noqa: F811
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        refused = thresher("serve", "--port", port)
        assert refused.code == 2
        assert "--port" in refused.err
    assert "is not an address" in thresher("serve", "--host", "nowhere.invalid").err
    with pytest.raises(UsageError, match="--host"):
        bind("192.0.2.1", 0)


@pytest.mark.promise(1)
def test_a_stopping_server_finishes_the_answer_that_is_under_way(project, thresher):  # noqa: F811
    token = key(thresher, "anna", "--scope", "read")
    number = 400
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store:
        write_records(store, [company(f"c{at}.com", "Acme", 0, about="x" * 40_000) for at in range(number)])

    async def half_then_stop(process: Command, url: str) -> bytes:
        async with aiohttp.ClientSession(headers={"X-API-Key": token}, read_bufsize=1_024) as session:
            async with session.get(f"{url}/api/export/companies?format=jsonl") as got:
                first = await got.content.readany()
                process.send_signal(signal.SIGTERM)
                return first + await got.read()

    with serving() as (process, said):
        body = asyncio.run(half_then_stop(process, address(said)))
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert len([json.loads(line) for line in body.splitlines()]) == number


@pytest.mark.parametrize("signals", [1, 2], ids=["after its grace", "at the second signal"])
def test_a_client_that_does_not_read_cannot_keep_a_server_alive(project, thresher, signals):  # noqa: F811
    token = key(thresher, "anna", "--scope", "read")
    assert thresher("config", "set", "web.grace", "0" if signals == 1 else "3600").code == 0
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store:
        write_records(store, [company(f"c{at}.com", "Acme", 0, about="x" * 40_000) for at in range(600)])
    with serving() as (process, said):
        with socket.create_connection(("127.0.0.1", int(address(said).rpartition(":")[2])), PATIENCE) as line:
            line.sendall(
                f"GET /api/export/companies?format=jsonl HTTP/1.1\r\nHost: x\r\nX-API-Key: {token}\r\n\r\n".encode()
            )
            assert line.recv(12) == b"HTTP/1.1 200"
            process.send_signal(signal.SIGTERM)
            if signals == 2:
                while "Stopping" not in process.stderr.readline():
                    pass
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_settings_changed_elsewhere_come_into_force(project, thresher):  # noqa: F811
    token = key(thresher, "anna", "--scope", "read", "--scope", "write", "--rate", 100_000)
    assert thresher("config", "set", "settings.every", "0.05").code == 0
    with workshop(project) as shop, served(shop) as url:
        api = Api(url, token)
        big = {"name": "x" * 2_000}
        assert api.ask("POST", "/api/companies", json=big).status == 400
        assert thresher("config", "set", "web.body_limit", "1024").code == 0
        while api.ask("POST", "/api/companies", json=big).status != 413:
            pass


@pytest.mark.promise(3)
@pytest.mark.promise(17)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_servers_share_the_rate_of_a_key(project, thresher, kind, request, monkeypatch):  # noqa: F811
    """One in a process of its own, one in this process."""
    url = None
    if kind == "postgres":
        url = f"{request.getfixturevalue('postgres_url')}?schema=web_{secrets.token_hex(6)}"
        monkeypatch.setenv("THRESHER_DATABASE_URL", url)
        SCHEMAS.make(url)
        request.addfinalizer(lambda: SCHEMAS.give_back(url))
    token = key(thresher, "anna", "--scope", "read", "--rate", 5, "--expires", "1h")

    async def hammer(*servers: Api) -> list[int]:
        return [
            each.status
            for each in await asyncio.gather(
                *(api.send("GET", "/api/sources") for api in servers for _ in range(15))
            )
        ]

    with serving() as (_, said), workshop(project, url) as shop, served(shop) as other:
        found = asyncio.run(hammer(Api(address(said), token), Api(other, token)))
    # Five at once, and one more for every twelve seconds that this may have taken.
    assert 5 <= found.count(200) <= 5 + PATIENCE // 12 + 1
    assert found.count(200) + found.count(429) == 30
    (listed,) = thresher("keys", "list", "--json").json
    assert (listed["used"], listed["rate"]) == (found.count(200), 5)


@pytest.mark.promise(17)
def test_a_key_is_shown_once_and_listed_by_how_it_begins(project, thresher):  # noqa: F811
    made = thresher(
        "keys", "create", "anna", "--scope", "read", "--scope", "write", "--expires", "90d", "--rate", 30
    )
    assert made.code == 0, made.err
    token = made.out.split()[0]
    assert re.fullmatch(r"thr_[0-9a-f]{12}_[\w-]{43}", token)
    listed = thresher("keys", "list")
    assert token not in listed.out
    assert f"{token[:16]}…" in listed.out
    assert "read, write" in listed.out
    assert "in 90d" in listed.out.replace("in 89d", "in 90d")
    assert token not in thresher("keys", "list", "--all", "--json").out
    assert thresher("keys", "create", "anna", "--scope", "read").code == 5
    assert thresher("keys", "revoke", "anna").code == 0
    assert thresher("keys", "revoke", "anna").code == 4
    assert "No keys" in thresher("keys", "list").out
    assert [each["state"] for each in thresher("keys", "list", "--all", "--json").json] == ["revoked"]


@pytest.mark.parametrize(
    "argv",
    [
        (" a",),
        ("a", "--scope", "root"),
        ("a", "--source", "x y"),
        ("a", "--scope", "read", "--expires", "soon"),
        ("a", "--scope", "read", "--expires", "0s"),
        ("a", "--scope", "read", "--expires", "9" * 400 + "d"),
        ("a", "--scope", "read", "--rate", "0"),
    ],
    ids=lambda argv: " ".join(argv)[:40],
)
def test_a_key_that_makes_no_sense_is_refused(project, thresher, argv):  # noqa: F811
    refused = thresher("keys", "create", *argv)
    assert refused.code == 2, refused.err
    assert refused.out == ""


def test_nothing_of_the_web_is_loaded_for_help():
    code = "import sys, thresher.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"fastapi", "uvicorn", "starlette", "pydantic", "thresher.web"} & set(loaded)

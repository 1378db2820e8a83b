"""The reference scrapers do what the guide says, as processes of their own against a real server."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.house.paper import ROOT
from thresher.admin.keys import create_key
from thresher.apps.roles import scraper
from thresher.apps.roles.app import app as roles
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import add_role
from thresher.runtime import opened_store
from thresher.store.store import Store

EXAMPLES = ROOT / "examples"
PATIENCE = 60.0
LIST = """1\tSenior Python Developer\tTech "Corp"\tBerlin\thttps://board.example/1
2\tPython developer (m/f/d)\tA\\B\tBremen\thttps://board.example/2
3\tGardener\tGreen & Co\tKöln\thttps://board.example/3
4\tC++ "Systems" Engineer\tBits\tUlm\thttps://board.example/4
"""
SCRAPERS = {"python": [sys.executable, "scraper.py"], "shell": ["sh", "scraper.sh"]}


@contextmanager
def board(text: str | None) -> Iterator[str]:
    """A board that lists its postings; without a text one that is broken."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = (text or "").encode()
            self.send_response(200 if text is not None else 500)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/list.tsv"
        server.shutdown()
        thread.join()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "thresher", "--project", str(folder), "serve", "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://[^/\s]+(?=/api)", process.stdout.readline())
        assert found, process.communicate()[1]
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def add(store: Store, *names: str, aliases: dict[str, str] | None = None) -> None:
    with store.write() as session:
        now, demand = store.backend.now(session), Demand.of(store.settings)
        for name in names:
            add_role(session, name, name.lower(), aliases=aliases or {}, now=now, demand=demand)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Iterator[tuple[str, str, Path]]:
    """A project that is served, and a key for it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "thresher.yaml").write_text("apps: [roles]\n")
    for file in (scraper.__file__, EXAMPLES / "scraper.sh"):
        shutil.copy(file, folder)
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=[roles]) as store:
        token = create_key(store, "reference", ["scrape"], apps=[roles], rate=100_000).token
    with serving(folder) as url:
        yield url, token, folder


def scrape(
    project: tuple[str, str, Path], how: str, address: str, key: str | None = None
) -> subprocess.CompletedProcess[str]:
    url, token, folder = project
    env = {**os.environ, "THRESHER_URL": url, "THRESHER_KEY": key or token}
    return subprocess.run(
        [*SCRAPERS[how], address],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def linked(store: Store, role: str) -> list[str]:
    sql = """select r.key from records r join links l on l.record_id = r.id join roles o on l.target = cast(o.id as text)
        where l.name = 'role' and o.name = :role order by r.key"""
    with store.read() as session:
        return [row[0] for row in session.rows(sql, {"role": role})]


@pytest.mark.parametrize("how", SCRAPERS)
def test_a_reference_scraper_serves_every_role_and_stops_when_none_waits(project, how):
    _, _, folder = project
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=[roles]) as store, board(LIST) as address:
        add(store, f"{how} nobody", 'C++ "Systems" Engineer', "Gardener", "Python Developer")
        with store.write() as session:
            session.run("update roles set status = 'pending', session_id = null")
            session.run("update role_turns set state = 'waiting', failures = 0")
        ran = scrape(project, how, address)
        assert ran.returncode == 0, ran.stderr
        with store.read() as session:
            found = dict(session.rows("select name, status from roles"))
            verdicts = dict(session.rows("select role_name, verdict from scrape_sessions order by id"))
            data = dict(session.rows("select key, data from records where kind = 'posting'"))
        assert set(found.values()) == {"completed"}, ran.stdout
        assert verdicts[f"{how} nobody"] == "empty"
        assert linked(store, "Python Developer") == ["board/1", "board/2"]
        assert linked(store, "Gardener") == ["board/3"]
        assert linked(store, 'C++ "Systems" Engineer') == ["board/4"]
        assert json.loads(data["board/1"])["company_name"] == 'Tech "Corp"'
        assert json.loads(data["board/2"])["company_name"] == "A\\B"
        assert json.loads(data["board/3"])["location"] == "Köln"


@pytest.mark.promise(7)
@pytest.mark.parametrize("how", SCRAPERS)
def test_a_reference_scraper_that_sees_nothing_gives_the_role_back(project, how):
    _, _, folder = project
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=[roles]) as store:
        for text, verdict in ((None, "failed"), ("", "unknown")):
            name = f"{how} {verdict}"
            add(store, name)
            with board(text) as address:
                ran = scrape(project, how, address)
            assert ran.returncode == 0, ran.stderr
            with store.write() as session:
                said = session.rows(
                    "select status, verdict from scrape_sessions where role_name = :name", {"name": name}
                )
                assert {row[1] for row in said} == {verdict}
                assert session.rows("select status from roles where name = :name", {"name": name}) == [
                    ("pending",)
                ]
                session.run("update role_turns set state = 'done'")
                session.run("update roles set status = 'completed'")


@pytest.mark.parametrize("how", SCRAPERS)
def test_a_reference_scraper_without_a_good_key_says_what_is_wrong(project, how):
    ran = scrape(project, how, "http://127.0.0.1:9/", key="thr_no")
    assert ran.returncode == 1
    assert "key" in ran.stderr


def test_a_reference_scraper_goes_on_with_what_it_held_when_it_was_killed(project):
    url, token, folder = project
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=[roles]) as store, board(LIST) as address:
        add(store, "Senior Python Developer")
        headers = ["-H", f"X-Scraper-API-Key: {token}"]
        claimed = subprocess.run(
            ["curl", "-fsS", *headers, f"{url}/api/scraper/queue/next-role"], capture_output=True, check=True
        )
        ran = scrape(project, "python", address)
        assert ran.returncode == 0, ran.stderr
        with store.read() as session:
            (row,) = session.rows(
                "select session_id, status from scrape_sessions where role_name = 'Senior Python Developer'"
            )
        assert row == (json.loads(claimed.stdout)["session_id"], "completed")

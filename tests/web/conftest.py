"""A project whose API is served by a real server on a thread, and a client that speaks real HTTP to it."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute
from yarl import URL

from tests.harness.tables import TABLES
from tests.web.conformance import slips
from thresher.admin.keys import create_key, known_scopes
from thresher.config.apps import load_apps, own_apps
from thresher.config.project import read_project
from thresher.runtime import Runtime, opened_runtime, project_registry
from thresher.web.route import OURS, Route, app_routes
from thresher.web.routes import ROUTES
from thresher.web.server import address_of, bind, make_server

PROJECT = "apps: [extractions, jobs, prices, queries, roles]\nsettings:\n  web.rate: 100000\n"
PATIENCE = 30.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def problem(self, status: int) -> dict[str, Any]:
        """The problem that this must be."""
        assert (self.status, self.headers["Content-Type"]) == (status, "application/problem+json"), self.body
        told = self.json
        assert set(told) == {"type", "title", "status", "detail", "error", "request_id"}
        assert told["status"] == status
        assert told.pop("request_id") == self.headers["X-Request-ID"]
        return dict(told)


@dataclass(frozen=True)
class Api:
    """A client. `path` is sent as it is written."""

    url: str
    token: str | None = None

    def ask(self, method: str, path: str, **how: Any) -> Answer:
        return asyncio.run(self.send(method, path, **how))

    async def send(self, method: str, path: str, *, headers: Any = None, **how: Any) -> Answer:
        shown = {"Authorization": f"Bearer {self.token}"} if self.token and headers is None else headers or {}
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            async with session.request(
                method, URL(self.url + path, encoded=True), headers=shown, allow_redirects=False, **how
            ) as got:
                answer = Answer(got.status, dict(got.headers), await got.read())
        found = slips(method, unquote(urlsplit(path).path), got.status, got.content_type, answer.body)
        assert found == [], "an answer is not as the OpenAPI document describes it"
        return answer

    def get(self, path: str, status: int = 200) -> Any:
        found = self.ask("GET", path)
        assert found.status == status, found.body
        return found.json

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        found = self.ask("POST", path, **({} if body is None else {"json": body}))
        assert found.status == status, found.body
        return found.json


# A process serves one application, and reads the signatures of its endpoints once. Tests make hundreds; it
# costs more than most of them do. A route that was made knows nothing of the project it serves.
_READY: dict[tuple[object, ...], BaseRoute] = {}
_make = Route.add_to


def _add_to(self: Route, app: FastAPI, owner: str) -> None:
    key = (self.method, self.path, self.endpoint, owner)
    if key in _READY:
        app.router.routes.append(_READY[key])
    else:
        _make(self, app, owner)
        _READY[key] = app.router.routes[-1]


Route.add_to = _add_to  # type: ignore[method-assign]

APPS = load_apps(own_apps(), Path())
ALL_ROUTES = [*((OURS, route) for route in ROUTES), *app_routes(APPS, ROUTES)]
ALL_SCOPES = tuple(known_scopes(APPS))


@contextmanager
def served(shop: Runtime) -> Iterator[str]:
    """A server on a thread of its own, at a port that was free."""
    ready = threading.Event()
    server = make_server(shop, ready.set)
    with bind("127.0.0.1", 0) as bound:
        url = address_of(bound)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])), name="server")
        thread.start()
        assert ready.wait(PATIENCE)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()


@contextmanager
def project(folder: Path, url: str | None = None) -> Iterator[Runtime]:
    (folder / "thresher.yaml").write_text(PROJECT)
    with workshop(folder, url) as shop:
        yield shop


@contextmanager
def workshop(folder: Path, url: str | None = None) -> Iterator[Runtime]:
    """The project that a folder holds."""
    said = read_project(folder)
    if url is None:
        TABLES.write(folder / "thresher.db", project_registry(said).apps)
    with opened_runtime(url or f"sqlite:///{folder / 'thresher.db'}?durability=process", said) as shop:
        yield shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Runtime]:
    with project(tmp_path) as shop:
        yield shop


@dataclass(frozen=True)
class Standing:
    """A server that all tests of a module share: those that are refused, or only look, and leave nothing for
    the next."""

    shop: Runtime
    stranger: Api


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with project(tmp_path_factory.mktemp("standing")) as shop, served(shop) as url:
        yield Standing(shop, Api(url))


@pytest.fixture
def stranger(shop: Runtime) -> Iterator[Api]:
    """Somebody without a key."""
    with served(shop) as url:
        yield Api(url)


@pytest.fixture
def api(shop: Runtime, stranger: Api) -> Api:
    """Somebody who may do everything."""
    return Api(stranger.url, create_key(shop.store, "anna", ["read", "write"]).token)


def raw(url: str, data: bytes) -> bytes:
    """Bytes as they are, and all that comes back until the other side hangs up."""
    address = URL(url)
    assert address.host
    with socket.create_connection((address.host, address.port or 80), timeout=PATIENCE) as line:
        line.sendall(data)
        return b"".join(iter(lambda: line.recv(65_536), b""))

"""A client, and the worker of another program on the same database."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.harness.databases import Database
from thresher import App, Client, Context, Done, Outcome, Pipeline, Source, Stage
from thresher.runtime import open_store
from thresher.store.store import Store


async def greet(ctx: Context) -> Outcome:
    return Done()


APP = App(
    "greetings",
    pipelines=(Pipeline("greet", Stage(greet, through=("source:post",))),),
    sources=(Source("post"),),
)


@pytest.fixture
def url(database: Database) -> str:
    database.open()  # makes the tables
    return database.url if database.name == "postgres" else f"sqlite:///{database.url}?durability=process"


@pytest.fixture
def worker(url: str) -> Iterator[Store]:
    """Where the tasks are performed: another program with a connection of its own."""
    with closing(open_store(url)) as store:
        yield store


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url, apps=[APP]) as opened:
        yield opened

"""Fixtures that all tests share. Time moves by `clock`; the PostgreSQL server is started once for a whole
run."""

import gc
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.harness.databases import NAMES, Database, file_database, memory_database, postgres_database
from tests.harness.pure import is_pure
from tests.harness.schemas import SCHEMAS
from tests.harness.server import Server
from thresher.config.apps import GROUP, PACKAGE, Available, available
from thresher.core import redaction
from thresher.core.clock import FrozenClock
from thresher.store.store import Store

SERVER = Server()

# Bytecode is kept, whatever the surroundings say: else every process that a test starts compiles all that it
# imports, and every test process writes the asserts of all tests anew, which takes longer than to import
# them. Set here, it holds for all of these.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell starts what runs in its background with Ctrl-C ignored, and every process that a test starts would
# inherit that: no command could be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The pages that the tests render are our own, and where they run as root Chromium cannot have its sandbox.
if os.geteuid() == 0:
    os.environ.setdefault("THRESHER_CHROMIUM_SANDBOX", "off")


# How long an example takes says how busy the machine is, and nothing about the code. `make test` draws the
# same examples every time, so that it says whether a change broke something; `make fuzz` goes looking for new
# ones.
QUIET = [HealthCheck.too_slow]
settings.register_profile("thresher", deadline=None, suppress_health_check=QUIET, derandomize=True)
settings.register_profile("fuzz", deadline=None, suppress_health_check=QUIET, max_examples=2_000)
settings.load_profile("thresher")


def pytest_configure(config: pytest.Config) -> None:
    """Our own apps are found by their entry points, and an older installation has others or none."""
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    if pyproject["project"]["entry-points"][GROUP] != {each.name: each.target for each in ours()}:
        raise pytest.UsageError(
            f"the entry points of this environment are not those of pyproject.toml; run: {sys.executable} -m pip install --no-deps -e ."
        )


def pytest_runtest_setup() -> None:
    """A test knows no secret of another: a word that one project hides is an ordinary one in the next."""
    redaction.KNOWN = redaction.KnownSecrets()


def ours() -> list[Available]:
    return [each for each in available() if each.package == PACKAGE]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """With several test processes the first process starts the server for all of them, and outlives them
    all."""
    is_needed = node.config.option.markexpr != "pure"  # type: ignore[attr-defined]
    node.workerinput["postgres"] = SERVER.answer() if is_needed else ("problem", "a pure test has no server")  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from twenty thousand tests, which stay until the end: to look at
    them again and again takes a tenth of the processor time of a run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What takes minutes in one process begins first: at the end, the other processes would wait for it.
    items.sort(key=lambda item: not item.nodeid.startswith("tests/wheel/"))
    for item in filter(is_pure, items):
        item.add_marker("pure")


def pytest_unconfigure(config: pytest.Config) -> None:
    SERVER.stop()


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the server is. Without one the test fails: a promise that was not tried is not kept."""
    shared = getattr(request.config, "workerinput", {}).get("postgres")
    kind, text = shared or SERVER.answer()
    if kind == "problem":
        pytest.fail(text)
    yield text
    SCHEMAS.clear(text)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=NAMES)
def database(request: pytest.FixtureRequest, clock: FrozenClock, tmp_path: Path) -> Iterator[Database]:
    """One database, of each kind in turn; gone after the test."""
    if request.param == "sqlite-memory":
        found = memory_database(clock)
    elif request.param == "sqlite-file":
        found = file_database(tmp_path, clock)
    else:
        found = postgres_database(request.getfixturevalue("postgres_url"), clock)
    yield found
    found.close()
    if request.param == "postgres":
        SCHEMAS.give_back(found.url)


@pytest.fixture
def make_store(database: Database) -> Callable[..., Store]:
    """Several machines on one database: every call opens another store."""
    return database.open


@pytest.fixture
def store(database: Database) -> Store:
    """One machine."""
    return database.open()

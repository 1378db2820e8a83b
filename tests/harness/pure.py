"""Which tests need nothing but their own process: no database, no server, no browser, no other process.

`make check` runs those of the rooms that lie below the store, so nobody keeps a list: a test is pure by what
it uses.
"""

import sys
from functools import cache
from types import ModuleType

import pytest

FIXTURES = frozenset({"database", "postgres_url", "web"})
# A module that names anything of these may start or reach something outside its process.
OUTSIDE = (
    "multiprocessing",
    "playwright",
    "psycopg",
    "socket",
    "subprocess",
    "tests.harness",
    "thresher.practice",
    "thresher.store",
)


def is_pure(item: pytest.Item) -> bool:
    module = getattr(item, "module", None)
    return (
        module is not None
        and not FIXTURES.intersection(getattr(item, "fixturenames", ()))
        and not reaches_outside(module)
    )


@cache  # a module has many tests, and this looks at every name in it
def reaches_outside(module: ModuleType) -> bool:
    """Whether it names something of the outside, or something of ours that is written with it."""
    origins = {_origin(value) for value in vars(module).values()}
    return any(origin.startswith(OUTSIDE) or _is_written_with_it(origin) for origin in origins)


def _is_written_with_it(origin: str) -> bool:
    ours = sys.modules.get(origin) if origin.startswith("thresher.") else None
    return ours is not None and any(
        isinstance(value, ModuleType) and value.__name__ in OUTSIDE for value in vars(ours).values()
    )


def _origin(value: object) -> str:
    return str(value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or "")

"""`make check` runs what is pure, so what is pure must be told apart by what it uses."""

import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.harness.pure import is_pure, reaches_outside
from thresher.store.store import Store
from thresher.vectors.install import carry_out

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("named", "outside"),
    [
        ({}, False),
        ({"re": re}, False),
        ({"Store": Store}, True),
        ({"subprocess": subprocess}, True),
        ({"carry_out": carry_out}, True),
    ],
)
def test_a_module_reaches_outside_if_it_names_something_that_does(named: dict[str, object], outside: bool):
    module = ModuleType("some_test")
    vars(module).update(named)
    assert reaches_outside(module) is outside


def test_a_test_of_a_database_is_not_pure(request: pytest.FixtureRequest, store: Store):
    assert not is_pure(request.node)


def test_the_rooms_of_the_quick_check_are_those_below_the_store():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][
        0
    ]["layers"]
    rooms = [set(layer.split(" | ")) for layer in layers]
    below = rooms[next(at for at, layer in enumerate(rooms) if "store" in layer) + 1 :]
    listed = re.search(r"^PURE := (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert listed
    assert set(listed[1].split()) == set().union(*below) - {"practice"}

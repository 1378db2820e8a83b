"""Which tests attack which promise, read from the marks. `python -m tests.house.promises` prints it."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.house.paper import ROOT, name

TESTS = ROOT / "tests"
TABLE = ROOT / "docs" / "explanation" / "promises.md"

_ROW = re.compile(r"^\| P(\d+) \| (.*?) \| (.*?) \|$", re.MULTILINE)


def promises() -> dict[int, str]:
    """The promises of the table, by number."""
    return {
        int(number): re.sub(r"\*", "", text) for number, text, _ in _ROW.findall(TABLE.read_text("utf-8"))
    }


def kept() -> set[int]:
    """Those that this release says it keeps."""
    return {
        int(number)
        for number, _, by in _ROW.findall(TABLE.read_text("utf-8"))
        if by.startswith("this release")
    }


@cache
def attacks() -> dict[int, list[str]]:
    """Promise to tests, in the order of the files."""
    found: dict[int, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for number, test in _marked(path):
            found.setdefault(number, []).append(test)
    return found


def _marked(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text("utf-8"))
    whole = [
        number
        for node in tree.body
        if isinstance(node, ast.Assign) and _assigns_marks(node)
        for number in _numbers(node.value)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            own = [number for decorator in node.decorator_list for number in _numbers(decorator)]
            for number in sorted({*whole, *own}):
                yield number, f"{name(path)}::{node.name}"


def _assigns_marks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _numbers(node: ast.AST) -> Iterator[int]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise":
            yield from (
                each.value
                for each in call.args
                if isinstance(each, ast.Constant) and isinstance(each.value, int)
            )


def main() -> int:
    found = attacks()
    for number, text in promises().items():
        if number in kept():
            print(f"P{number} {text}")
            print("".join(f"    {test}\n" for test in found.get(number, ["no test!"])))
    return 0 if kept() <= found.keys() else 1


if __name__ == "__main__":
    sys.exit(main())

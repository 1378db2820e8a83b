"""How large the map is that a newcomer has to learn: files, words, and how many files a task walks through.

    python -m tests.house.figures        prints the table of docs/explanation/architecture-figures.md

Nothing here is a limit. The figures say in which direction the tree moves, and anybody can count them again.
"""

import ast
import asyncio
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "thresher"
SMALL = 60  # lines
THREADS = (
    "MainThread",
    "database",
)  # chores and heartbeats have threads of their own and are no part of a walk


def main() -> None:
    """Print one row a figure."""
    for name, value in figures().items():
        print(f"| {name} | {value} |")


def figures() -> dict[str, str]:
    """Everything that is counted, as it is shown."""
    trees = parse_package()
    imported = Counter(target for path, tree in trees.items() for target in _imports(path, tree, trees))
    lonely = [path for path in trees if imported[path] == 1]
    enqueue, settle, warm = walks()
    return {
        "modules": f"{len(trees)}",
        "modules with one importer": f"{len(lonely)}",
        f"of them under {SMALL} lines": f"{sum(1 for path in lonely if _lines(path) < SMALL)}",
        "packages that hold a part of the roles app": f"{_packages(trees, 'roles')}",
        "packages that hold a part of the jobs app": f"{_packages(trees, 'jobs')}",
        "class names defined more than once, apps aside": f"{len(names_twice(trees))}",
        "words in the glossary": f"{_glossary()}",
        "imports that are not at the top": f"{sum(_late_imports(tree) for tree in trees.values())}",
        "`# fmt: skip`": f"{sum(path.read_text('utf-8').count('# fmt: skip') for path in trees)}",
        "`dict[str, Any]`": f"{sum(path.read_text('utf-8').count('dict[str, Any]') for path in trees)}",
        "enqueue on SQLite: files, functions": enqueue,
        "claim to settle on SQLite: files, functions": warm,
        "the same with the start and the end of the worker": settle,
    }


def parse_package() -> dict[Path, ast.Module]:
    """The syntax tree of every module of ours."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def walks() -> tuple[str, str, str]:
    """What one task walks through: from a request to its row; from the start of a worker to its end; and from
    its claim to its settlement, by a worker that is at work.
    """
    from thresher import App, Done, NewTask, Pipeline, Stage, runtime  # noqa: PLC0415  counted here, so not before the counting begins
    from thresher.engine.registry import Registry  # noqa: PLC0415
    from thresher.engine.worker import run_loop  # noqa: PLC0415

    async def stage(_: Any) -> Done:
        return Done()

    registry = Registry([App("walk", (Pipeline("step", Stage(stage)),))])
    with tempfile.TemporaryDirectory(prefix="thresher-figures-") as folder:
        url = f"sqlite:///{folder}/walk.db"
        with runtime.opened_store(url) as store:
            enqueue = partial(_enqueue, store, registry, NewTask("step"))
            enqueue()  # once before: what happens only the first time is no part of the walk
            with _Walk() as one:
                enqueue()
            with runtime.opened_worker(runtime.Runtime(store, registry), url, until_idle=True) as worker:
                with _Walk() as whole:
                    run_loop(worker.run())
        with runtime.opened_store(url) as store:  # another one: its threads are watched from their beginning
            enqueue = partial(_enqueue, store, registry, NewTask("step"))
            with runtime.opened_worker(runtime.Runtime(store, registry), url) as worker, _Walk() as warm:
                run_loop(_at_work(worker, enqueue, warm))
    return str(one), str(whole), str(warm)


def _enqueue(store: Any, registry: Any, new: Any) -> None:
    store.enqueue([registry.admit(new)])


async def _at_work(worker: Any, enqueue: Callable[[], None], walk: "_Walk") -> None:
    """Let a worker settle one task, then watch it with the next."""
    working = asyncio.create_task(worker.run())
    for number in (1, 2):
        enqueue()
        walk.forget()
        while worker.tally.settled < number:
            await asyncio.sleep(0.001)
    walk.end()
    worker.stop()
    await working


class _Walk:
    """The functions of ours that are called meanwhile."""

    def __enter__(self) -> Self:
        self._seen: set[tuple[str, str]] = set()
        self._ended = False
        sys.setprofile(self._note)
        threading.setprofile(self._note)
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

    def end(self) -> None:
        """Count no further."""
        sys.setprofile(None)
        threading.setprofile(None)
        self._ended = True  # a thread that has begun meanwhile is still watched

    def forget(self) -> None:
        """Begin anew."""
        self._seen.clear()

    def _note(self, frame: Any, event: str, _: object) -> None:
        if self._ended:
            return
        code = frame.f_code
        ours = code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<")
        if event == "call" and ours and threading.current_thread().name.startswith(THREADS):
            self._seen.add((code.co_filename, code.co_qualname))

    def __str__(self) -> str:
        return f"{len({file for file, _ in self._seen})}, {len(self._seen)}"


def _imports(path: Path, tree: ast.Module, known: dict[Path, ast.Module]) -> set[Path]:
    """The modules of ours that a module names, each once."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    files = {ROOT / "src" / Path(*name.split(".")).with_suffix(".py") for name in names}
    return {each for each in files if each in known and each != path}


def _packages(trees: dict[Path, ast.Module], app: str) -> int:
    """In how many packages a module or folder bears the name of an app, or imports its package."""
    found = set()
    for path, tree in trees.items():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if app in parts or any(f"apps/{app}/" in str(each) for each in _imports(path, tree, trees)):
            found.add(parts[0])
    return len(found)


def names_twice(trees: dict[Path, ast.Module]) -> list[str]:
    """The public classes defined more than once outside the apps. An app may have its own `Match`."""
    names = Counter(
        node.name
        for path, tree in trees.items()
        if path.relative_to(PACKAGE).parts[0] != "apps"
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, number in names.items() if number > 1)


def _glossary() -> int:
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text("utf-8")
    return len(re.findall(r"^\| \*\*", text, re.MULTILINE))


def _late_imports(tree: ast.Module) -> int:
    return sum(
        1
        for function in _functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from _functions(node)


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


if __name__ == "__main__":
    main()

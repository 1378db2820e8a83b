"""The rules of CONTRIBUTING.md that a machine can check."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.paper import ROOT, name, tracked
from thresher.core.redaction import redact

SOURCES = sorted((ROOT / "src" / "thresher").rglob("*.py"))
VAGUE = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "base"}
# Where "job" means employment: pages about jobs, and the rooms that read and serve them.
EMPLOYMENT = ("`/Job/A` and `/job/a` are different pages", "https://example.com/jobs")
EMPLOYERS = (
    "apps/jobs",
    "apps/roles",
    "config/jobs.py",
    "apps/jobs/cli/jobs.py",
    "apps/roles/service/arrivals.py",
    "hiring",
    "apps/roles/service/scrapes.py",
    "reading",
    "practice/web",
    "apps/roles/http/scraper.py",
)
# The app and its commands, its kind of task and its settings are called so, and what scrapers say over HTTP;
# nothing else is.
APP = re.compile(
    r"""\bJOBS\b|(?:config\.|thresher )jobs|jobs app|apps[./]jobs|"jobs?"|["']jobs\.|jobs (?:match|profile|view|judge)|^ *jobs,|\(jobs,"""
    r"""|\bjobs?_\w+|\bexternal_job_id\b|queue/jobs|jobs/imported"""
)
# Calls that open a database or set up logging; at import time nobody has asked for either.
SETUPS = {
    "basicConfig",
    "dictConfig",
    "fileConfig",
    "addHandler",
    "setLevel",
    "captureWarnings",
    "connect",
    "open_store",
    "open_backend",
    "open_bare",
    "ConnectionPool",
    "SqliteBackend",
    "PostgresBackend",
    "Store",
}
UNDONE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
# A path that exists on one machine only, and hosts that packages come from: neither belongs into the
# repository.
MACHINE = re.compile(r"(?<![\w.:/-])/(?:ho" r"me|ro" r"ot|Us" r"ers|wo" r"rk|t" r"mp|workspace)/[\w.-]+")
REGISTRY = re.compile(
    r"(?i)\b(?:py"
    r"pi\.org|pythonho"
    r"sted\.org|artifac"
    r"tory|nexus\.|index[-_]u"
    r"rl|dev"
    r"pi|verdac"
    r"cio)"
)
TEXT = {".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".sql", ".cfg", ".sh", ""}


def text_files() -> list[Path]:
    return [path for path in tracked() if path.suffix in TEXT]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_module_is_named_after_nothing_in_particular():
    assert [
        name(path) for path in tracked() if path.suffix == ".py" and {path.stem, path.parent.name} & VAGUE
    ] == []


def test_every_module_opens_with_a_paragraph_that_says_why_it_exists():
    assert [name(path) for path in SOURCES if not ast.get_docstring(parsed(path))] == []


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(UNDONE, id="undone work"),
        pytest.param(MACHINE, id="a machine's path"),
        pytest.param(REGISTRY, id="registry"),
    ],
)
def test_no_tracked_file_holds(pattern: re.Pattern[str]):
    found = [
        f"{name(path)}:{number} {match[0]}"
        for path in text_files()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if (match := pattern.search(line))
    ]
    assert found == []


# `except (`, a name alone, `) as problem:  # why`: brackets that the formatter made room for a comment with.
TORN = re.compile(r"^( *)(?:.*[=\s])?\(\n.*\n\1\).*  # (?!type: ignore)", re.MULTILINE)


def test_no_comment_tears_a_line_apart():
    """A comment that is too long for its line goes above it."""
    texts = {path: path.read_text("utf-8") for path in tracked() if path.suffix == ".py"}
    torn = [
        f"{name(path)}:{text.count(chr(10), 0, found.start()) + 1}"
        for path, text in texts.items()
        for found in TORN.finditer(text)
    ]
    assert torn == []


def test_a_task_is_never_called_a_job():
    found = []
    room = ROOT / "src" / "thresher"
    for path in [*SOURCES, *room.rglob("*.sql")]:
        if any(path.is_relative_to(room / employer) for employer in EMPLOYERS):
            continue
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if re.search(r"(?i)(?<![a-z])jobs?(?![a-z])", APP.sub("", line)) and not any(
                allowed in line for allowed in EMPLOYMENT
            ):
                found.append(f"{name(path)}:{number}")
    assert found == []


def test_importing_a_module_sets_nothing_up():
    found = [
        f"{name(path)}:{call.lineno} {ast.unparse(call.func)}"
        for path in SOURCES
        for node in parsed(path).body
        for call in _calls_at_import(node)
        if ast.unparse(call.func).rpartition(".")[2] in SETUPS
    ]
    assert found == []


def _calls_at_import(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _calls_at_import(child)


def test_importing_everything_leaves_logging_and_the_folder_as_they_were(tmp_path: Path):
    modules = [
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        for path in SOURCES
    ]
    code = f"""
import importlib, logging, threading
for module in {[module for module in modules if not module.endswith("__main__")]!r}:
    importlib.import_module(module)
ours = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("thresher")]
print([each.name for each in (logging.root, *ours) if each.handlers or (each is not logging.root and each.level)], threading.active_count())
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.strip() == "[] 1"
    assert list(tmp_path.iterdir()) == []


# Calls that run their first argument as a CSS selector or an XPath. Whoever has page text in hand must not
# get it in there.
SELECTING = {
    "css",
    "css_first",
    "matches",
    "closest",
    "select",
    "select_one",
    "iselect",
    "xpath",
    "xpath_one",
    "xpath_iter",
}
MAKERS = {"reading/html/parser.py": "written_selector", "learning/locator.py": "learned_selector"}
# Who takes a selector at a person's word: platform files, our own vocabulary, recipes, price sources.
TRUSTING = {
    "apps/prices/adapters/result_rows.py",
    "apps/extractions/recipe_file.py",
    "reading/postings/postings.py",
    "reading/postings/single.py",
    "reading/html/parser.py",
}
WITHOUT_PAGES = ("practice", "store", "reading/html/parser.py")


def constants(path: Path) -> set[str]:
    """Names that are bound at import time, when no page has been read."""
    body = parsed(path).body
    assigned = (node for node in body if isinstance(node, ast.Assign | ast.AnnAssign))
    targets = (
        target
        for node in assigned
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    return {target.id for target in targets if isinstance(target, ast.Name)}


def selector_calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call that takes a selector, with the function it stands in."""
    for function in functions(path):
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and node.args:
                called = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if (isinstance(node.func, ast.Attribute) and called in SELECTING) or called == "Selector":
                    yield function.name, node


def is_program_text(argument: ast.expr, known: set[str]) -> bool:
    return isinstance(argument, ast.Constant) or (isinstance(argument, ast.Name) and argument.id in known)


@pytest.mark.promise(18)
def test_no_text_of_a_page_can_become_a_selector():
    """A selector is a literal or a constant; one that a person wrote or that was learned comes as a
    `Selector`, from its one maker."""
    loose = [
        f"{name(path)}:{call.lineno} in {function}"
        for path in SOURCES
        if not (local := str(path.relative_to(ROOT / "src" / "thresher"))).startswith(WITHOUT_PAGES)
        for function, call in selector_calls(path)
        if not is_program_text(call.args[0], constants(path)) and MAKERS.get(local) != function
    ]
    assert loose == []


def test_a_selector_is_taken_at_a_persons_word_only_where_a_person_wrote_it():
    calls = (
        (path, node) for path in SOURCES for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)
    )
    trusting = {
        path for path, node in calls if isinstance(node.func, ast.Name) and node.func.id == "written_selector"
    }
    assert {str(path.relative_to(ROOT / "src" / "thresher")) for path in trusting} == TRUSTING


# Where the stored form of a record is known: its readers and writers, and the filing of arrivals, which puts
# what came over what is there as it stands. Everybody else has the record's type.
STORED = ("hiring/records.py", "apps/jobs/model.py", "apps/roles/model.py", "apps/roles/store/arrivals.py")


def peeks(tree: ast.Module) -> list[int]:
    """The lines that take a value out of the data of a record: by its name, by `get`, or after `said =
    found.data`, which only postpones it.
    """
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and _peeks(node)]


def _peeks(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=value):
            return _is_data(value)
        case ast.Attribute(value=value, attr="get" | "pop" | "setdefault"):
            return _is_data(value)
        case ast.Assign(value=value) | ast.AnnAssign(value=value) | ast.NamedExpr(value=value):
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            return any(_is_data(part) for each in parts for part in _choices(each))
    return False


def _choices(value: ast.expr | None) -> list[ast.expr | None]:
    return [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]


def _is_data(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "data"


@pytest.mark.parametrize(
    "line",
    [
        'found.data["title"]',
        'x = known.found.data.get("title") or ""',
        "data = found.data",
        "key, data = found.key, found.data",
        "old = before.data if before else {}",
    ],
)
def test_a_look_into_the_data_of_a_record_is_seen(line: str) -> None:
    assert peeks(ast.parse(line))


def test_a_record_is_read_by_its_type_and_not_by_the_names_of_its_fields() -> None:
    root = ROOT / "src" / "thresher"
    readers = {root / each for each in STORED}
    apps = [path for path in SOURCES if path.relative_to(root).parts[0] in ("apps", "hiring")]
    found = [f"{name(path)}:{line}" for path in apps if path not in readers for line in peeks(parsed(path))]
    assert not found, f"read it as a record of its kind: {found}"


# Sentences that show where a secret goes; hidden there, they lose nothing that a log needs.
SHOWS_A_PLACE = re.compile(r"Bearer (?:KEY|word)|//user:\$\{PROXY_PASSWORD\}@|postgresql://user@host")


def sentences(path: Path) -> Iterator[str]:
    """What a file may say, with `word` for each value; no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in node.values}
    inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(each.value if isinstance(each, ast.Constant) else "word" for each in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value


@pytest.mark.promise(17)
def test_no_sentence_of_ours_looks_like_a_secret():
    garbled = [
        f"{name(path)}: {redact(text)}"
        for path in SOURCES
        if "store" not in path.parts and "practice" not in path.parts
        for text in sentences(path)
        if text.count(" ") > 3 and redact(text) != text and not SHOWS_A_PLACE.search(text)
    ]
    assert garbled == [], "no colon behind a word such as token; what follows is hidden in logs and errors"

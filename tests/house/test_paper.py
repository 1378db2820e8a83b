"""Links resolve, commands exist, code runs: the documentation as a reader tries it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.house.pages.cli import root
from tests.house.paper import ROOT, Block, anchors, blocks, commands, links, name, pages, prose
from thresher.cli.call import CommandCall
from thresher.cli.main import hoist

KINDS = {"console", "mermaid", "python", "sql", "text", "toml", "yaml", ""}
FRAGMENT = "python fragment"
ABOUT = "console about"  # its figures may differ a little: tests/house/tutorial.py
PYTHON = [block for block in blocks("python") if block.info != FRAGMENT]
# Those that print an example are compared with it, and the example is run by test_examples.py.
PRINTED = ("README.md", "docs/tutorial/first-app.md")
CONSOLE = blocks("console")
# Words that begin a line in a console block and are not ours.
OTHERS = {"cd", "export", "git", "pg_dump", "pg_restore", "pip", "rm"}
ROOMS = {
    "src",
    "tests",
    "docs",
    "examples",
    "bench",
    "core",
    "config",
    "store",
    "engine",
    "admin",
    "apps",
    "cli",
}


def test_every_relative_link_resolves():
    broken = []
    for page in pages():
        for link in links(page):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{name(page)}: {link}")
    assert broken == []


def test_every_page_of_the_docs_is_linked_from_another():
    linked = {(page.parent / link.partition("#")[0]).resolve() for page in pages() for link in links(page)}
    assert [name(page) for page in pages() if name(page).startswith("docs/") and page not in linked] == []


def test_files_that_pages_name_exist():
    missing = []
    for page in pages():
        for path in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|sql|md|yaml|txt))`", prose(page)):
            if path.partition("/")[0] in ROOMS and not any(
                (folder / path).exists() for folder in (ROOT, ROOT / "src" / "thresher")
            ):
                missing.append(f"{name(page)}: {path}")
    assert missing == []


def test_every_block_says_what_it_is():
    """A reader, and these tests, must know which blocks can be run."""
    infos = {
        (name(page), info)
        for page in pages()
        for info in re.findall(r"^```([^\n`]+)$", page.read_text("utf-8"), re.MULTILINE)
    }
    assert [(page, info) for page, info in sorted(infos) if info not in {*KINDS, FRAGMENT, ABOUT}] == []


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_every_command_in_a_console_block_exists_with_its_options(block: Block):
    for words in commands(block):
        program = Path(words[0]).name
        if program == "thresher":
            parse(words[1:])
        elif program == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE), words
        elif program == "python":
            assert words[1] == "-c" or (
                words[1] == "-m" and (ROOT / f"{words[2].replace('.', '/')}.py").exists()
            ), words
        else:
            assert program in OTHERS, words


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_command_in_running_text_exists(page: Path):
    """`thresher sources limit` in a sentence is a command too; capital words stand for something."""
    for said in re.findall(r"`thresher ([a-z][^`]*)`", prose(page)):
        command: Any = root()
        rest = said.split()
        while rest:
            if rest[0].startswith("-"):
                known = [each for option in (*command.params, *root().params) for each in option.opts]
                assert rest.pop(0) in known, said
            elif not hasattr(command, "commands") or rest[0].isupper() or "|" in rest[0] or rest[0] == "…":
                break
            else:
                context = typer.Context(command, obj=CommandCall())
                _, command, rest = command.resolve_command(context, rest)


def parse(words: list[str]) -> None:
    """Parse a command line against the command tree, as the real one does, without doing anything."""
    command, context, rest = root(), None, hoist(words)
    while True:
        context = command.make_context(command.name or "thresher", rest, parent=context)
        if not hasattr(command, "commands"):
            return
        _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])


def test_an_unknown_option_would_be_seen():
    for words in (["run", "--nonsense"], ["tasks", "lisst"], ["tasks", "show"]):
        with pytest.raises(Exception, match=r"(?i)no such|missing"):
            parse(words)


@pytest.mark.parametrize("block", [block for block in PYTHON if block.page not in PRINTED], ids=str)
def test_every_whole_block_of_python_runs(block: Block, tmp_path: Path):
    """An app runs until nothing is left to do; anything else is a script. What is neither is marked a
    fragment."""
    file = tmp_path / "app.py"
    file.write_text(block.text, "utf-8")
    if "app = App(" not in block.text:
        subprocess.run([sys.executable, file], cwd=tmp_path, check=True, timeout=30, capture_output=True)
        return
    (tmp_path / "thresher.yaml").write_text("apps: [app.py]\nsettings:\n  retry.base: 0.2\n", "utf-8")
    line = [sys.executable, "-m", "thresher", "run", "--json"]
    surroundings = {**os.environ, "THRESHER_DATABASE_URL": "sqlite:///queue.db"}
    ran = subprocess.run(
        line, cwd=tmp_path, env=surroundings, timeout=60, capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 1), ran.stderr
    found = json.loads(ran.stdout)
    assert (ran.returncode == 1) == bool(found["failed"])
    assert found["kinds"]
    assert [kind for kind in found["kinds"] if kind["done"] < kind["total"]] == []


def test_the_readme_and_the_tutorial_print_the_examples_as_they_are():
    whole = {block.page: block.text for block in PYTHON if block.page in PRINTED}
    assert [block.page for block in PYTHON if block.page in PRINTED] == list(PRINTED), "one whole block each"
    greetings = (ROOT / "examples" / "greetings.py").read_text("utf-8")
    assert whole["README.md"].strip() == greetings.partition('"""\n\n')[2].strip()
    assert whole["docs/tutorial/first-app.md"] == (ROOT / "examples" / "library.py").read_text("utf-8")


def test_the_readme_is_one_screen():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 100


@pytest.mark.parametrize(
    ("header", "told"),
    [("X-API-Key", ["http-api.md"]), ("X-Scraper-API-Key", ["http-api.md", "scraper-protocol.md"])],
)
def test_the_pages_send_a_key_in_one_header_and_name_the_others_once(header: str, told: list[str]):
    """`Authorization: Bearer`, everywhere; decisions and the changelog tell what was."""
    found = [
        page.name
        for page in pages()
        if page.parent.name != "decisions" and page.name != "CHANGELOG.md" and header in page.read_text()
    ]
    assert sorted(found) == told
    assert all((ROOT / "docs" / "reference" / name).read_text().count(f"{header}") == 1 for name in told)

"""A tutorial as a reader follows it: its files are written, its commands done one after the other, and what
it shows of their answers is looked for in what they said.

What differs from reader to reader does not count: ages and times of day, days of the reader's own calendar,
and the numbers of tasks. The figures of a block that is marked `about` may differ by a tenth, or by one.
`...` and `…` stand for what the page leaves out.
"""

import os
import re
import shlex
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, start
from tests.house.paper import ROOT, Block, blocks_of
from thresher.cli.practice import PORT as PRACTICE_PORT
from thresher.cli.serve import PORT as SERVE_PORT

PROMPT = "$ "
ABOUT = "about"
TENTH = 0.1
SECONDS = 60
# Nobody waits for politeness in a test.
QUICK = {"host.interval": 0.001, "run.patience": 20, "worker.poll": 0.05}
# What is done side by side is listed in the order of its ends, which differs from reader to reader.
ONE_BY_ONE = ("--concurrency", "1")
# The practice web has the days of spring 2026; later ones are those on which somebody followed the page.
LAST_DAY_THERE = "2026-06-01"
_FILE = re.compile(r"`([\w./-]+\.(?:csv|py|yaml))`[^`]*:$")
_LEFT_OUT = re.compile(r"\.\.\.|…")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_TIME = re.compile(r"(?:T| )?\b\d\d:\d\d:\d\d(?:\.\d+)?Z")
_AGE = re.compile(r"\b\d+(?:ms|[smhd])(?: \d+[smh])*\b")
_TASK = re.compile(r"\btask \d+")
_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_URL = re.compile(r"http://[\w.:]+")


@dataclass(frozen=True)
class File:
    """A file that the page asks for."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, and the lines that the page shows below it."""

    where: str
    words: tuple[str, ...]
    shown: tuple[str, ...]
    about: bool = False


@dataclass(frozen=True)
class Blank:
    """Words that a reader replaces by something that was answered before."""

    words: str
    found_by: str


def steps(page: str) -> Iterator[File | Command]:
    """What a page asks its reader to do, in its order."""
    for block in blocks_of(ROOT / page):
        if PROMPT in block.text[:2]:
            yield from commands_of(block)
        elif match := _FILE.search(block.before):
            yield File(match[1], block.text)
        else:
            raise AssertionError(f"{block}: neither commands nor a file that the words above it name")


def commands_of(block: Block) -> Iterator[Command]:
    """The commands of a block. A quotation may run over lines."""
    for text in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = text.splitlines()
        for end in range(1, len(lines) + 1):
            try:
                words = shlex.split("\n".join(lines[:end]))
            except ValueError:
                continue
            yield Command(str(block), tuple(words), tuple(lines[end:]), ABOUT in block.info.split())
            break
        else:
            raise AssertionError(f"{block}: {lines[0]} has a quotation without an end")


@dataclass
class Reader:
    """Who follows a page: in an empty folder, with a practice web and what was answered so far."""

    web: str
    folder: Path
    thresher: Thresher
    monkeypatch: pytest.MonkeyPatch
    blanks: Sequence[Blank] = ()
    said: list[str] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    servers: list["subprocess.Popen[str]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.addresses[f"http://127.0.0.1:{PRACTICE_PORT}"] = self.web

    def follow(self, page: str) -> None:
        """Do what the page says, and compare what it shows."""
        try:
            for step in steps(page):
                if isinstance(step, File):
                    self.write(step)
                else:
                    self.said.append(self.do(step))
                    check(
                        step, replaced(self.said[-1], {there: said for said, there in self.addresses.items()})
                    )
        finally:
            for server in self.servers:
                server.terminate()
                server.communicate(timeout=SECONDS)

    def write(self, file: File) -> None:
        text = replaced(file.text, self.addresses)
        path = self.folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(hurried(text) if file.name == "thresher.yaml" else text, "utf-8")

    def do(self, command: Command) -> str:
        """What a command answered."""
        words = [self.filled(replaced(word, self.addresses)) for word in command.words]
        match words:
            case ["thresher", "practice"]:
                return ""  # it serves already
            case ["thresher", "serve", *options]:
                return self.serve(options, len(command.shown))
            case ["thresher", *rest]:
                told = self.thresher(*rest, *(ONE_BY_ONE if rest == ["run"] else ()))
                # `run` ends with 1 where a page of a site is broken, as pages are.
                assert told.code == 0 or (told.code == 1 and rest == ["run"]), (command.where, words, told)
                return told.out + told.err
            case ["export", setting]:
                name, _, value = setting.partition("=")
                self.monkeypatch.setenv(name, value)
                return ""
            case ["curl", *rest]:
                return curl(rest)
        raise AssertionError(f"{command.where}: nobody here knows how to do {words[0]}")

    def filled(self, word: str) -> str:
        """A word with what was answered before in place of its blanks."""
        for blank in self.blanks:
            if blank.words in word:
                found = re.findall(blank.found_by, "\n".join(self.said))
                assert found, f"nothing that was said so far is {blank.words}"
                word = word.replace(blank.words, found[-1])
        return os.path.expandvars(word)

    def serve(self, options: list[str], lines: int) -> str:
        """Start a server on a free port; its first lines."""
        port = int(options[options.index("--port") + 1]) if "--port" in options else SERVE_PORT
        server = start("serve", "--port", "0", cwd=self.folder)
        self.servers.append(server)
        assert server.stdout
        said = "".join(server.stdout.readline() for _ in range(max(lines, 1)))
        found = _URL.search(said)
        assert found, said
        self.addresses[f"http://127.0.0.1:{port}"] = found[0]
        return said


def replaced(text: str, by: Mapping[str, str]) -> str:
    for old, new in by.items():
        text = text.replace(old, new)
    return text


def hurried(project: str) -> str:
    """A project with the settings of a test."""
    added = ""
    for key, value in QUICK.items():
        project, found = re.subn(
            rf"^  {re.escape(key)}: \S+", f"  {key}: {value}", project, flags=re.MULTILINE
        )
        added += "" if found else f"  {key}: {value}\n"
    before, heading, after = project.partition("\nsettings:\n")
    return f"{before}{heading}{added}{after}" if heading else f"{project}settings:\n{added}"


def curl(words: list[str]) -> str:
    """Do as curl does with `-H` and `-d`."""
    headers, body, url = {}, None, ""
    rest = iter(words)
    for word in rest:
        if word == "-H":
            name, _, value = next(rest).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(rest).encode()
        else:
            url = word
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=SECONDS) as answer:
        return answer.read().decode()


def check(command: Command, said: str) -> None:
    """Look for each line that the page shows, in the order of the page, in what was said."""
    same: Callable[[str], str] = without_figures if command.about else comparable
    rest, values = same(said), figures(said)
    for part in (part for line in command.shown for part in _LEFT_OUT.split(line)):
        if not (wanted := same(part)):
            continue
        _, found, after = rest.partition(wanted)
        assert found, (
            f"{command.where}: $ {shlex.join(command.words)}\nthe page shows  {wanted}\nand it said      {rest}"
        )
        rest = after
        wrong = [each for each in figures(part) if not any(near(each, value) for value in values)]
        assert not command.about or wrong == [], f"{command.where}: {wrong} of {wanted} is not in {said}"


def comparable(text: str) -> str:
    """A text without what differs from reader to reader, and without the rules of tables."""
    text = _DAY.sub(lambda day: "DAY" if day[0] > LAST_DAY_THERE else day[0], text)
    for pattern, name in ((_TIME, "TIME"), (_AGE, "AGE"), (_TASK, "task N")):
        text = pattern.sub(name, text)
    return " ".join(word for word in text.split() if word.strip("─"))


def without_figures(text: str) -> str:
    return _FIGURE.sub("N", comparable(text))


def figures(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in _FIGURE.findall(comparable(text))]


def near(shown: float, said: float) -> bool:
    """Whether two figures differ by a tenth or by one: sales fade with age, and a 7 of 10 may be an 8."""
    return abs(shown - said) <= max(1, TENTH * max(abs(shown), abs(said)))

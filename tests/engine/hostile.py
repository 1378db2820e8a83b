"""Functions and pages that a pool of processes has to survive. They stand in a module, because other
processes import them from here."""

import ctypes
import os
import signal
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any

from thresher import Done
from thresher.core.errors import Gone
from thresher.core.page import Page
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.read import read
from thresher.learning.rows import rows
from thresher.reading.html.document import Document
from thresher.reading.html.links import links
from thresher.reading.html.parser import first_selected
from thresher.reading.inspect.inspection import inspect
from thresher.reading.lists.pagination import pagination
from thresher.reading.structured.facts import structured
from thresher.reading.text.content import main_content
from thresher.reading.text.markdown import full_markdown
from thresher.reading.text.plain import full_text
from thresher.reading.verdict.emptiness import shell
from thresher.reading.verdict.wall import wall

MEGABYTE = 1024 * 1024


def double(number: int) -> int:
    return 2 * number


def pid() -> int:
    return os.getpid()


def has_loaded(module: str) -> bool:
    return module in sys.modules


def spin() -> None:
    """Hold the interpreter for ever, as a regular expression or a selector can: no signal handler of Python's
    would run."""
    ctypes.PyDLL(None).sleep(
        10_000
    )  # unlike other libraries, one of this kind keeps the lock of the interpreter


def begin_and_spin(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    spin()


def begin_and_wait(path: str) -> None:
    """Wait for ever, and leave the interpreter to others meanwhile."""
    Path(path).write_text(str(os.getpid()))
    threading.Event().wait()


def bomb_of_a_person() -> str | None:
    """A selector that somebody wrote into a platform's file, on a page that makes the most of it."""
    return first_selected(Document.from_html("<p>x</p>" * 3_000).root, ("x, :has(~p~p~p~p~zz)",))


def take(megabytes: int) -> int:
    return len(bytearray(megabytes * MEGABYTE))


def take_all() -> int:
    """Take all the memory there is; how many bytes of this process were in memory at most."""
    held = []
    try:
        while True:
            held.append(bytearray(MEGABYTE))
    except MemoryError:
        held.clear()
    peak = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    return int(peak.split()[1]) * 1024


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def say(size: int) -> bytes:
    return bytes(size)


def is_gone() -> None:
    raise Gone("it is not there", gate="host:shop.example")


class Odd(Exception):
    """It cannot be made from what it says."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def odd() -> None:
    raise Odd(1, 2)


PROSE = "words that make a sentence, which is long enough to count as prose on its own, so that it has some weight. "
TAG = "x,:has(~p~p~p~p~zz)"
PAGES = {
    "a tag that is a selector": lambda: (
        f"<title>Ladder</title><{TAG} class=title>Ladder</{TAG}><p class=price>£5" + "<p>x</p>" * 1_000
    ),
    "nested boxes": lambda: "<div>" * 40_000 + "x",
    "nested tables": lambda: "<table><tr><td>" * 5_000,
    "formatting left open": lambda: "<b><i><u><p>" * 8_000,
    "formatting opened anew in every paragraph": lambda: (
        "<p>" + "".join(f"<b a={at}>" for at in range(600)) + "<p>x" * 10_000
    ),
    "a root with new attributes every time": lambda: "".join(f"<html a{at}=1>" for at in range(10_000)),
    "many attributes": lambda: "<p " + " ".join(f"a{at}=1" for at in range(30_000)) + ">x",
    "many siblings": lambda: "<p class=price>£5 a<a href=/x/1>y</a>" * 3_000,
    "many rows": lambda: (
        "<ul>" + "<li class=hit><h3><a href=/job/100>Ladder maker</a></h3><p class=price>£5</p></li>" * 600
    ),
    "one text": lambda: "<p>" + PROSE * 10_000,
    "digits and signs": lambda: "<p>" + "1.1,1-1/1 $€£ am pm " * 10_000,
    "spaces": lambda: "<p>" + " " * 500_000 + "x",
    "brackets in a script": lambda: "<script>window.x = " + "[{" * 50_000 + "</script>",
    "data": lambda: (
        '<script type="application/ld+json">' + '{"@type":"JobPosting","x":' * 5_000 + "</script>"
    ),
    "nothing but openings of tags": lambda: "<" * 200_000,
    "entities": lambda: "<h1>" + "&amp;&#x1F600;&notanentity;" * 20_000,
}


def page_of(name: str) -> Page:
    url = "https://shop.example/x"
    return Page(url, url, 200, {"content-type": "text/html; charset=utf-8"}, PAGES[name]().encode())


TOOL = Schema("tool", (Field("title", required=True), Field("price", Kind.MONEY)))
TOOLS = Schema("tools", TOOL.fields, many=True)


def read_everything(page: Page) -> int:
    """Every reader and learner there is on one page; how many of them there were."""
    document = Document.of(page)
    wall(page.status, page.headers, document.html)
    readers = (shell, full_text, full_markdown, main_content, links, pagination, structured)
    for reader in readers:
        reader(document)
    inspect(page, date(2026, 3, 10))
    rows(TOOLS, document)
    return len(readers) + 3


def learn_everything(page: Page) -> bool:
    """Learn one thing and several things from a page, and read it with what was learned."""
    document = Document.of(page)
    found = [
        learn(TOOL, [Example(document, {"title": "Ladder", "price": "£5"})] * 3),
        learn(
            TOOLS,
            [
                Example(
                    document,
                    {"items": [{"title": "Ladder maker"}, {"title": "x"}, {"title": "a"}, {"title": "y"}]},
                )
            ],
        ),
    ]
    for each in found:
        if isinstance(each, Extractor):
            read(each, document)
    return True


def shout(ctx: Any) -> Done:
    """A stage: what was stored before it, in capitals, stored again."""
    body = ctx.wait(ctx.load(ctx.task.payload["hash"]))
    return Done(f"{ctx.wait(ctx.save(body.upper()))} {ctx.setting('worker.batch')} {os.getpid()}")


def never_end(ctx: Any) -> Done:
    spin()
    return Done()


def go_out(ctx: Any) -> Done:
    return Done(str(ctx.wait(ctx.fetch("https://shop.example/"))))

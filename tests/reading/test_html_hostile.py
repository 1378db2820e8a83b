"""Attacks on promise 18 through the tree of a page: a few bytes of markup that grow into gigabytes of
nodes."""

import subprocess
import sys

import pytest

from thresher.core.errors import TooLarge
from thresher.reading.html.parser import LIMITS, MAX_DEPTH, parse

BOMBS = {
    "formatting left open": lambda: "<b><i><u><p>" * 800_000,
    "formatting opened anew in every paragraph": lambda: (
        "<p>" + "".join(f"<b a={at}>" for at in range(600)) + "<p>x" * 100_000
    ),
    "a root with new attributes every time": lambda: "".join(f"<html a{at}=1>" for at in range(100_000)),
    "one root of many attributes, repeated": lambda: (
        f"<body {' '.join(f'a{at}' for at in range(300_000))}>" + "<body b>" * 3_000
    ),
    "siblings": lambda: "<p>x" * 600_000,
    "tables left open": lambda: "<table><tr><td><b><i>" * 200_000,
    "formatting of many kinds": lambda: (
        "<p>" + "".join(f"<i {at}><font {at}>" for at in range(20_000)) + "<p>x" * 30_000
    ),
}
# The process gets a third of what the first of these took before there was a limit.
ATTACK = """
import resource, sys
from thresher.core.errors import TooLarge
from thresher.reading.html.parser import parse
from tests.reading.test_html_hostile import BOMBS
html = BOMBS[sys.argv[1]]()
resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
try:
    parse(html)
except TooLarge as problem:
    print(problem)
"""


@pytest.mark.promise(18)
@pytest.mark.parametrize("name", BOMBS)
def test_a_page_that_grows_beyond_the_limit_of_nodes_is_refused_before_it_has_taken_the_memory(
    name: str,
) -> None:
    attack(name)


@pytest.mark.promise(18)
def test_what_a_process_took_before_does_not_hide_what_a_page_takes() -> None:
    ballast = bytearray(b"x") * 1_000_000_000  # a child inherits the peak of its parent
    del ballast
    attack("formatting opened anew in every paragraph")


def attack(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ATTACK, name], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "the page" in done.stdout


@pytest.mark.promise(18)
@pytest.mark.parametrize("tag", ["div", "b", "svg", "table", "ul", "select", "template", "p", "a"])
def test_no_tree_is_deeper_than_the_limit(tag: str) -> None:
    deepest = max(len(list(node.ancestors)) for node in list(parse(f"<{tag}>" * 3_000 + "x"))[-5:])
    assert deepest <= MAX_DEPTH + 1


@pytest.mark.promise(7)
def test_a_page_over_the_limit_is_an_error_and_never_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "max_nodes", 1_000)
    assert len(list(parse("<p>x" * 450))) == 452
    with pytest.raises(TooLarge, match="1,102 nodes"):
        parse("<p>x" * 550)
    with pytest.raises(TooLarge, match="1,100 tags"):
        parse("<p>" * 1_100)


@pytest.mark.parametrize("inner", ["<p>y", "<template shadowrootmode=open><p>in</p></template>"])
def test_a_large_page_that_is_watched_while_it_is_parsed_has_the_same_tree(inner: str) -> None:
    piece = f"<div><b>{inner}<table>x<td>z</table></div>"
    small, large = parse(piece), parse(piece * 700)
    first = large.css_first("body > div")
    assert first is not None
    assert first.html == small.css_first("body > div").html  # type: ignore[union-attr]
    assert ("shadowrootmode" in large.html) == ("shadowrootmode" in piece)

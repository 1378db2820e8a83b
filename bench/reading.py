"""Text, Markdown and main content in milliseconds of CPU per 100 KB of HTML, beside trafilatura in the same
run.

    python bench/reading.py [FOLDER] [--rounds 5]

FOLDER holds recorded pages (.html, .htm, .html.gz). Without one, three pages made for the purpose are read: a
news article, a listing of 400 cards, and a long document with tables and code.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from thresher.reading.html.charset import decode
from thresher.reading.html.document import Document
from thresher.reading.html.parser import parse
from thresher.reading.text.content import main_content
from thresher.reading.text.markdown import full_markdown, main_markdown
from thresher.reading.text.plain import full_text

HERE = "https://example.org/news/2026/02/03/harbour"
SENTENCE = "The harbour was rebuilt after the storm, and the <a href='/ferries'>first ferries</a> have been running again since Monday. "


def article() -> str:
    menu = "".join(
        f"<li class='menu-item item-{n}'><a href='/section/{n}'>Section {n}</a></li>" for n in range(80)
    )
    story = "".join(f"<p class='paragraph'>{SENTENCE * 4}</p>" for _ in range(60))
    teasers = "".join(
        f"<div class='card'><a href='/story/{n}'><h3>Another story, number {n}</h3></a></div>"
        for n in range(60)
    )
    script = "<script>" + "window.settings = {'a': [1, 2, 3]};" * 400 + "</script>"
    head = (
        "<meta property='og:type' content='article'><meta property='article:published_time' content='2026-02-03'>"
        + script
    )
    body = f"<nav><ul>{menu}</ul></nav><article><h1>Harbour</h1><div>{story}</div></article><div class='related'>{teasers}</div>{script}"
    return f"<html lang=en><head><title>Harbour</title>{head}</head><body>{body}</body></html>"


def listing() -> str:
    card = "<div class='job card' id='job-{0}'><h2><a href='/job/{0}'>Captain {0}</a></h2><span>Hamburg</span><p>{1}</p></div>"
    return "<html><body>" + "".join(card.format(n, SENTENCE) for n in range(400)) + "</body></html>"


def manual() -> str:
    table = (
        "<table>"
        + "".join(f"<tr><td>key {n}<td>value {n}<td>{SENTENCE}</tr>" for n in range(40))
        + "</table>"
    )
    part = f"<h2>Part</h2><p>{SENTENCE * 3}</p><ul><li>one<ul><li>two</li></ul></li></ul><pre><code>x = 1\n</code></pre>{table}"
    return f"<html><body>{part * 12}</body></html>"


def pages(folder: Path | None) -> Iterator[str]:
    if folder is None:
        yield from (article(), listing(), manual())
        return
    for path in sorted(folder.rglob("*.htm*")):
        body = path.read_bytes()
        yield decode(gzip.decompress(body) if path.suffix == ".gz" else body).text


def rivals() -> dict[str, Callable[[str], object]]:
    try:
        import trafilatura
    except ImportError:
        print("trafilatura is not installed: pip install trafilatura lxml_html_clean")
        return {}
    return {
        "trafilatura, main text": lambda html: trafilatura.extract(html, include_comments=False),
        "trafilatura, main Markdown": lambda html: trafilatura.extract(
            html, include_comments=False, output_format="markdown"
        ),
    }


def ours() -> dict[str, Callable[[str], object]]:
    return {
        "parse": parse,
        "full text": lambda html: full_text(Document.from_html(html, HERE)),
        "full Markdown": lambda html: full_markdown(Document.from_html(html, HERE)),
        "main text": lambda html: main_content(Document.from_html(html, HERE)).text,
        "main Markdown": lambda html: main_markdown(Document.from_html(html, HERE)),
    }


def milliseconds(
    readers: dict[str, Callable[[str], object]], batch: list[str], rounds: int
) -> dict[str, float]:
    """CPU per 100 KB, in turns, the best of some rounds for each: the others were disturbed."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(rounds):
        for name, read in readers.items():
            started = time.process_time()
            for html in batch:
                read(html)
            best[name] = min(best[name], time.process_time() - started)
    return {name: 1000 * seconds / (sum(map(len, batch)) / 100_000) for name, seconds in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    batch = list(pages(given.folder))
    print(json.dumps({"pages": len(batch), "kb_a_page": round(sum(map(len, batch)) / len(batch) / 1000)}))
    for name, spent in milliseconds({**ours(), **rivals()}, batch, given.rounds).items():
        print(json.dumps({"what": name, "cpu_ms_per_100_kb": round(spent, 2)}))


if __name__ == "__main__":
    main()

"""One page from Markdown to HTML. What it links to, shows and says is collected on the way, and what would
be broken in the site is a problem with its page and line.
"""

import posixpath
import re
import struct
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from tests.house.paper import slug

# The names of our fenced blocks, and the lexers that colour them. The others are shown as they are.
LEXERS = {"python": "python", "yaml": "yaml", "sql": "sql", "toml": "toml", "console": "console"}
COLOURED = HtmlFormatter(nowrap=True, classprefix="t-")
PNG = b"\x89PNG\r\n\x1a\n"
DARK = "-dark"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass
class Section:
    """What a search finds: the words below one heading."""

    anchor: str
    heading: str
    words: list[str] = field(default_factory=list)


@dataclass
class Rendered:
    """A page of the site, and what was seen while it was rendered."""

    page: str
    title: str = ""
    html: str = ""
    sections: list[Section] = field(default_factory=list)
    targets: list[tuple[str, str]] = field(default_factory=list)  # the heading above a link, and its file
    links: list[tuple[str, str, int]] = field(default_factory=list)  # file, anchor, and the line of the link
    files: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    @property
    def anchors(self) -> set[str]:
        return {each.anchor for each in self.sections}


def render(root: Path, page: str, place: Callable[[str], str]) -> Rendered:
    """Render one page. `place` says where a file of the repository is in the site."""
    parser = MarkdownIt("commonmark", renderer_cls=Renderer).enable("table")
    writer, env = Writer(root, page, place), dict[str, Any]()
    tokens = parser.parse((root / page).read_text("utf-8"), env)
    writer.look(tokens)
    writer.found.html = parser.renderer.render(tokens, parser.options, env)
    return writer.found


class Writer:
    """Goes through the tokens of a page, and puts into them what the site needs."""

    def __init__(self, root: Path, page: str, place: Callable[[str], str]) -> None:
        self.root, self.place = root, place
        self.found = Rendered(page, sections=[Section("", "")])
        self._line = 0

    def look(self, tokens: Sequence[Token]) -> None:
        taken: set[str] = set()
        for number, token in enumerate(tokens):
            self._line = token.map[0] + 1 if token.map else self._line
            match token.type:
                case "heading_open":
                    self._heading(token, tokens[number + 1], taken)
                case "inline":
                    self._inline(token)
                case "fence" | "code_block":
                    self.found.sections[-1].words.append(token.content)
                case "html_block":
                    self._html(token)

    def problem(self, text: str) -> None:
        self.found.problems.append(f"{self.found.page}:{self._line}: {text}")

    def _heading(self, token: Token, inline: Token, taken: set[str]) -> None:
        said = "".join(each.content for each in inline.children or ())
        token.attrSet("id", slug(inline.content, taken))
        if token.tag == "h1" and self.found.title:
            self.problem("a page has one title; begin this heading with ##")
        if token.tag == "h1":
            self.found.title = self.found.title or said
        self.found.sections.append(Section(str(token.attrs["id"]), "" if token.tag == "h1" else said))

    def _html(self, token: Token) -> None:
        """Comments are for whoever writes; anything else would be another page on GitHub than here."""
        if not re.fullmatch(r"\s*<!--.*?-->\s*", token.content, re.DOTALL):
            self.problem(f"write Markdown, not HTML: {token.content.strip()[:60]}")
        token.content = ""

    def _inline(self, token: Token) -> None:
        if token.content.startswith("| "):
            self.problem(
                f"this row belongs to no table; is there a blank line before it? {token.content[:60]}"
            )
        for child in token.children or ():
            match child.type:
                case "link_open":
                    child.attrSet("href", self._link(str(child.attrs["href"])))
                case "image":
                    self._image(child)
                case "html_inline":
                    self._html(child)
                case "text" | "code_inline":
                    self.found.sections[-1].words.append(child.content)
                case "softbreak":
                    self.found.sections[-1].words.append(" ")
        self.found.sections[-1].words.append(" ")

    def _link(self, link: str) -> str:
        """Where a link leads in the site."""
        if _SCHEME.match(link):
            return link
        path, _, anchor = link.partition("#")
        target = self._file(path) if path else self.found.page
        if target is None:
            self.problem(f"nothing is at {link}")
            return link
        self.found.links.append((target, anchor, self._line))
        if path:
            self.found.targets.append((self.found.sections[-1].heading, target))
        if not target.endswith(".md"):
            self.found.files.add(target)
        return (self._relative(target) if path else "") + (f"#{anchor}" if anchor else "")

    def _image(self, token: Token) -> None:
        source = str(token.attrs["src"])
        file = None if _SCHEME.match(source) else self._file(source)
        if file is None:
            self.problem(f"no picture of ours is at {source}")
            return
        if not token.content.strip():
            self.problem(f"say what is seen on {source}: ![words]({source})")
        token.attrSet("src", self._relative(file))
        self._sized(token, file)
        self.found.files.add(file)
        dark = re.sub(r"(\.\w+)$", rf"{DARK}\1", file)
        if (self.root / dark).is_file():
            self.found.files.add(dark)
            token.meta["dark"] = self._relative(dark)

    def _sized(self, token: Token, file: str) -> None:
        """A page does not jump when its pictures arrive, and each is drawn as large as it was seen."""
        if file.endswith(".png"):
            width, height = png_size(self.root / file)
            token.attrSet("width", str(width))
            token.attrSet("height", str(height))
        token.attrSet("loading", "lazy")

    def _file(self, path: str) -> str | None:
        """The file of the repository that a path names from this page."""
        found = posixpath.normpath(posixpath.join(posixpath.dirname(self.found.page), path))
        return None if found.startswith("..") or not (self.root / found).is_file() else found

    def _relative(self, file: str) -> str:
        return posixpath.relpath(self.place(file), posixpath.dirname(self.place(self.found.page)) or ".")


class Renderer(RendererHTML):
    """HTML as the site wants it: what may be wider than a phone scrolls by itself, also by the keyboard."""

    def fence(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        kind, text = tokens[idx].info.partition(" ")[0], tokens[idx].content
        if kind in LEXERS:
            text = highlight(text, get_lexer_by_name(LEXERS[kind]), COLOURED)
        else:
            text = escape(arrows(text) if kind == "mermaid" else text)
        return f'<pre tabindex="0"><code>{text.strip(chr(10))}\n</code></pre>\n'

    code_block = fence

    def image(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        drawn, dark = super().image(tokens, idx, options, env), tokens[idx].meta.get("dark")
        if dark is None:
            return drawn
        return (
            f'<picture><source srcset="{escape(dark)}" media="(prefers-color-scheme: dark)">{drawn}</picture>'
        )

    def table_open(self, tokens: Sequence[Token], idx: int, *_: object) -> str:
        return '<div class="sheet" tabindex="0">\n<table>\n'

    def table_close(self, *_: object) -> str:
        return "</table>\n</div>\n"


def arrows(diagram: str) -> str:
    """What may follow what in a diagram of states, a line each: to draw it takes a large script."""
    moves: dict[str, list[str]] = {}
    for one, other in re.findall(r"^ *(\w+) --> (\w+)$", diagram, re.MULTILINE):
        moves.setdefault(one, []).append(other)
    return "\n".join(f"{one} → {', '.join(others)}" for one, others in moves.items())


def png_size(file: Path) -> tuple[int, int]:
    """Width and height, as they are said at the beginning of the file."""
    head = file.read_bytes()[:24]
    if not head.startswith(PNG):
        raise ValueError(f"{file} is no PNG")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def dead_anchors(pages: Mapping[str, Rendered]) -> Iterator[str]:
    """Links to a heading that their page does not have."""
    for page in pages.values():
        for target, anchor, line in page.links:
            if anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{page.page}:{line}: {target} has no heading #{anchor}"

"""A dossier: the pages of one company as one text, so that whatever is said of it has a place by its
characters.

Page after page, line after line, as a reader sees them, and below each page what it declares for machines. A
line that an earlier page had too (a menu, a footer) is not repeated. The same pages always give the same
text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thresher.hiring.company.declared import declared
from thresher.hiring.finding import Finding
from thresher.reading.html.document import Document

MAX_LINES = 3_000  # of one page
MAX_TEXT = 120_000  # characters of one page
MAX_LINE = 5_000
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page that was read. `role` says what it was read for: home, about, careers, culture or mission."""

    role: str
    document: Document


@dataclass(frozen=True, slots=True)
class Line:
    """One block of a page. `level` is that of a heading, 0 of everything else; `linked` the share of it that
    is links.
    """

    text: str
    start: int
    tag: str
    role: str
    page: int
    linked: float = 0.0
    level: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Dossier:
    """`declared` has what the pages say to machines, by name, in order; everything stands in `text`."""

    text: str
    lines: tuple[Line, ...] = ()
    declared: Mapping[str, tuple[Finding[str], ...]] = field(default_factory=dict)

    def said(self, *names: str) -> Finding[str] | None:
        """The first of these that is declared."""
        return next((each for name in names for each in self.declared.get(name, ())), None)


def dossier(leaves: Sequence[Leaf]) -> Dossier:
    """The dossier of these pages."""
    return _Writing().whole(leaves)


class _Writing:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._at = 0
        self._seen: set[str] = set()
        self._lines: list[Line] = []
        self._declared: dict[str, tuple[Finding[str], ...]] = {}

    def whole(self, leaves: Sequence[Leaf]) -> Dossier:
        for page, leaf in enumerate(leaves):
            self._write(f"{'' if page == 0 else chr(10)}== {leaf.document.url}\n")
            self._page(page, leaf)
            self._facts(leaf.document)
        return Dossier("".join(self._pieces), tuple(self._lines), self._declared)

    def _page(self, page: int, leaf: Leaf) -> None:
        until = self._at + MAX_TEXT
        for line in self._fresh(page, leaf):
            if self._at + len(line.text) > until or len(self._lines) >= (page + 1) * MAX_LINES:
                break
            self._lines.append(line)
            self._write(f"{line.text}\n")

    def _fresh(self, page: int, leaf: Leaf) -> Iterator[Line]:
        for block in leaf.document.flow.blocks:
            text = block.text[:MAX_LINE].replace("\x00", " ")
            level = int(block.tag[1]) if block.tag in HEADINGS else 0
            if not level and page and text in self._seen:
                continue
            self._seen.add(text)
            yield Line(text, self._at, block.tag, leaf.role, page, block.linked, level)

    def _facts(self, document: Document) -> None:
        for name, value in declared(document):
            self._write(f"{name}: ")
            found = Finding(value, self._at, self._at + len(value))
            self._write(f"{value}\n")
            self._declared[name] = (*self._declared.get(name, ()), found)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._at += len(text)

"""Reading our own documentation: the pages, their headings, links and code blocks."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+?)[ \t]*$", re.MULTILINE)
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its info string, its text, and the paragraph above it."""

    page: str
    line: int
    info: str
    text: str
    before: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def tracked() -> list[Path]:
    """Every file of the repository: those that git keeps and those it would."""
    line = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # no git here, or an archive without its history
        return [path for path in ROOT.rglob("*") if path.is_file() and not _ignored(path)]
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def _ignored(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return (
        any(part.startswith(".") or part == "__pycache__" or part.endswith(".egg-info") for part in parts)
        or ".db" in path.name
    )


def pages() -> list[Path]:
    """Every Markdown page."""
    return sorted(path for path in tracked() if path.suffix == ".md")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(language: str) -> list[Block]:
    """All fenced blocks of a language."""
    return [block for path in pages() for block in blocks_of(path) if block.info.split(" ")[0] == language]


def blocks_of(path: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    text = path.read_text("utf-8")
    for match in _FENCE.finditer(text):
        line, before = text.count("\n", 0, match.start()) + 1, text[: match.start()].strip()
        yield Block(name(path), line, match[2].strip(), match[3], before.rpartition("\n\n")[2])


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", path.read_text("utf-8"))


def links(path: Path) -> list[str]:
    return _LINK.findall(re.sub(r"`[^`\n]*`", "", prose(path)))


def anchors(path: Path) -> set[str]:
    """What a link may name after `#`, made as GitHub makes it."""
    found: set[str] = set()
    for heading in _HEADING.findall(prose(path)):
        slug(heading, found)
    return found


def slug(heading: str, taken: set[str]) -> str:
    """The name of a heading in links, which no other heading of its page has."""
    plain = re.sub(r"[^\w\- ]", "", _LINKED.sub(r"\1", heading).lower()).replace(" ", "-")
    number = 0
    while (unique := f"{plain}-{number}" if number else plain) in taken:
        number += 1
    taken.add(unique)
    return unique


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a console block, each as words; pipes and `&&` make several of one line."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            one: list[str] = []
            for word in [*words, "&&"]:
                if word in ("&&", "|", ";"):
                    if one:
                        yield _without_variables(one)
                    one = []
                else:
                    one.append(word)


def _without_variables(words: list[str]) -> list[str]:
    while words and re.match(r"[A-Z_]+=", words[0]):
        words = words[1:]
    return words

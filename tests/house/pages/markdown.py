"""The little Markdown that the printed pages need."""

from collections.abc import Iterable, Sequence

NOTE = "<!-- Printed from the code by `python -m tests.house.generate`. Do not edit. -->"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [_line(columns), _line(["---"] * len(columns)), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def fence(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def join(title: str, *parts: str) -> str:
    """A whole page."""
    return "\n\n".join([f"# {title}", NOTE, *parts]) + "\n"


def first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())

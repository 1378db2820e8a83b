"""Print the pages of the reference that follow from the code.

`python -m tests.house.generate` writes them; `--check` only compares, and exits 1 when one differs.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.house.pages import cli, errors, events, logs, python, settings, states

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli.page,
    "errors.md": errors.page,
    "events.md": events.page,
    "logs.md": logs.page,
    "python.md": python.page,
    "settings.md": settings.page,
    "states.md": states.page,
}


def differing() -> list[str]:
    """The pages that are not what the code says."""
    return [
        name
        for name, page in PAGES.items()
        if not (REFERENCE / name).exists() or (REFERENCE / name).read_text("utf-8") != page()
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.house.generate", description="Print the reference from the code."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page differs")
    names = differing()
    if parser.parse_args(argv).check:
        for name in names:
            print(f"docs/reference/{name} differs from the code; run: python -m tests.house.generate")
        return 1 if names else 0
    for name in names:
        (REFERENCE / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

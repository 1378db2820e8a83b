"""`python -m evaluate CORPUS [--area NAME] [--misses]`: score the reading of a recorded corpus against its
manifest."""

import argparse
import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluate.score import Score

# One module per area, each with `scores(corpus) -> list[Score]`.
AREAS = (
    "addresses",
    "articles",
    "boards",
    "clients",
    "detection",
    "evidence",
    "facts",
    "fields",
    "lists",
    "looks",
    "pages",
    "pagination",
    "postings",
    "prices",
    "recipes",
    "robots",
    "sites",
    "titles",
)


def main() -> int:
    """Print the table; 1 when an aim was missed."""
    parser = argparse.ArgumentParser(prog="evaluate", description="Score the reading of real recorded pages.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--area", choices=AREAS, action="append", help="only this area (may be repeated)")
    parser.add_argument("--misses", action="store_true", help="list what was read wrongly")
    asked = parser.parse_args()
    if not (asked.corpus / "MANIFEST.csv").exists():
        print(f"no corpus at {asked.corpus}: nothing to evaluate (name a folder with a MANIFEST.csv)")
        return 0
    scores = [
        score
        for area in asked.area or AREAS
        for score in importlib.import_module(f"evaluate.{area}").scores(asked.corpus)
    ]
    Console().print(_table(scores))
    if asked.misses:
        for score in scores:
            for miss in score.misses:
                print(f"{score.area}/{score.name}: {miss}")
    return 1 if any(score.met is False for score in scores) else 0


def _table(scores: list[Score]) -> Table:
    table = Table("area", "what", "score", "aim", "cases", "")
    for score in scores:
        aim = "" if score.aim is None else f"{'≤' if score.lower else '≥'} {score.aim:g}{score.unit}"
        mark = {True: "met", False: "MISSED", None: ""}[score.met]
        table.add_row(score.area, score.name, f"{score.value:.4g}{score.unit}", aim, str(score.cases), mark)
    return table


if __name__ == "__main__":
    sys.exit(main())

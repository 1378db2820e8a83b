"""`python -m tests.house.site [FOLDER]`: write the site, or say everything that is wrong and exit 1."""

import argparse
import sys
from pathlib import Path

from tests.house.paper import ROOT
from tests.house.site.build import build


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.house.site", description="Write the docs as a site."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "site", help="where to; default: site")
    folder = parser.parse_args().folder
    problems = build(ROOT, folder)
    for each in problems:
        print(each, file=sys.stderr)
    print(f"problems: {len(problems)}; nothing was written" if problems else f"open {folder / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

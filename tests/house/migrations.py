"""The migration files as they were released. `python -m tests.house.migrations` writes the list anew: only
before a release."""

import hashlib
import sys

from tests.house.paper import ROOT

FOLDER = ROOT / "src" / "thresher" / "store" / "migrations"
LIST = ROOT / "tests" / "house" / "migrations.txt"


def listed() -> dict[str, str]:
    """File name to SHA-256, as written down."""
    return {file: digest for digest, file in (line.split() for line in LIST.read_text("utf-8").splitlines())}


def present() -> dict[str, str]:
    """File name to SHA-256, as they are."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(FOLDER.glob("*.sql"))}


if __name__ == "__main__":
    LIST.write_text("".join(f"{digest}  {file}\n" for file, digest in present().items()), encoding="utf-8")
    sys.exit(0)

"""The migration files of Thresher and its apps as they were released.

`python -m tests.house.migrations` writes the list anew: only before a release."""

import hashlib
import sys

from tests.house.paper import ROOT

PACKAGE = ROOT / "src" / "thresher"
LIST = ROOT / "tests" / "house" / "migrations.txt"


def listed() -> dict[str, str]:
    """File name to SHA-256, as written down."""
    return {file: digest for digest, file in (line.split() for line in LIST.read_text("utf-8").splitlines())}


def present() -> dict[str, str]:
    """File name to SHA-256, as they are."""
    return {
        path.relative_to(PACKAGE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(PACKAGE.glob("**/migrations/*.sql"))
    }


if __name__ == "__main__":
    LIST.write_text("".join(f"{digest}  {file}\n" for file, digest in present().items()), encoding="utf-8")
    sys.exit(0)

"""Files that a person names on the command line."""

import sys
from pathlib import Path

from thresher.core.errors import UsageError


def read_bytes(file: str, most: int) -> bytes:
    """A file of at most so many bytes, or standard input for -. Raises UsageError."""
    try:
        if file == "-":
            body = sys.stdin.buffer.read(most + 1)
        else:
            with Path(file).open("rb") as source:
                body = source.read(most + 1)
    except (OSError, ValueError) as problem:
        raise UsageError(f"cannot read {file}: {getattr(problem, 'strerror', None) or problem}") from None
    if len(body) > most:
        raise UsageError(f"{file} is larger than {most:,} bytes; split it")
    return body

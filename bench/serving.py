"""A server in a process of its own, for benchmarks that speak HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(folder: Path, url: str, apps: str = "roles") -> Iterator[tuple[str, int]]:
    """Where it is, as http://HOST:PORT, and its process."""
    (folder / "thresher.yaml").write_text(f"database: {url}\napps: [{apps}]\n")
    words = [sys.executable, "-m", "thresher", "--project", str(folder), "serve", "--port", "0", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            said = ""
            while not said.rstrip().endswith("}"):
                line = process.stdout.readline()
                assert line, "the server did not start"
                said += line
            yield json.loads(said)["url"].removesuffix("/api"), process.pid
        finally:
            process.terminate()
            process.wait()

"""Commands on a real terminal, and what it is sent."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

# What may steer a terminal: colours, and the beginning and the end of a link with nothing but visible ASCII.
STYLE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;(?:id=[\d-]+)?;[!-~]*\x1b\\")
RUN = """
import json, sys
from thresher.cli import main
for words in json.loads(sys.argv[1]):
    print("::", " ".join(words), flush=True)
    main(words)
    sys.stdout.flush()
"""


def in_terminal(folder: Path, width: int, commands: list[list[str]]) -> dict[str, str]:
    """What these commands print on a real terminal of this width, one process for all of them."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    clean = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**clean, "TERM": "xterm-256color"},
    )
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65_536):
            said += chunk
    except OSError:  # the other end is closed: all is read
        pass
    finally:
        os.close(ours)
        assert child.wait(60) == 0
    parts = re.split(r"^:: (.*)\n", said.decode().replace("\r\n", "\n"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))

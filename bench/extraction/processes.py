"""What a process and all that it has started use: memory, and time of the processor."""

import os
from pathlib import Path


def resident_mb(pid: int) -> int:
    """Megabytes of the whole tree. Pages that several share are divided among them (PSS), so a forked process
    is not counted for what it has of its parent.
    """
    return sum(_kb(each) for each in tree(pid)) // 1024


def tree(pid: int) -> list[int]:
    """The process and its descendants."""
    found, queue = [], [pid]
    while queue:
        each = queue.pop()
        found.append(each)
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                queue += [int(word) for word in task.read_text().split()]
            except OSError:  # it has just ended
                continue
    return found


def _kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def cpu_seconds(pid: int) -> float:
    """Time of the processor that the tree has used, with those of its members that have ended."""
    return sum(_ticks(each) for each in tree(pid)) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0
    return sum(int(each) for each in told[11:15])

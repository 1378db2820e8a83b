"""A worker as `thresher worker` starts it, with a clock around its turns at the database.

python -m bench.extraction.timed_worker FILE --project FOLDER worker
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thresher.cli.main import main
from thresher.engine.turns import Turns
from thresher.store.backend import Turn


def timed(file: Path) -> None:
    """Write down when each turn was taken, how long it took, and for how many tasks."""
    take = Turns.take
    out = file.open("a", buffering=1)

    async def take_timed(self: Turns, outgoing: Sequence[Any], room: int) -> Turn | None:
        began = time.perf_counter()
        turn = await take(self, outgoing, room)
        took = round((time.perf_counter() - began) * 1000, 3)
        told = {
            "at": time.monotonic(),
            "ms": took,
            "settled": len(outgoing),
            "claimed": len(turn.tasks) if turn else 0,
        }
        out.write(json.dumps(told) + "\n")
        return turn

    Turns.take = take_timed  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    timed(Path(sys.argv[1]))
    del sys.argv[1]
    sys.exit(main())

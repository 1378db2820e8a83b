"""How long a scraper waits for its next role: many roles, many scrapers, a real server, real HTTP; and a bare
answer as the floor.

    python bench/next_role.py --store sqlite|postgres [--roles 100000] [--scrapers 50] [--seconds 20]
                              [--pace 1.0] [--json]

Every scraper has a key and a connection of its own, and asks `pace` times a second, which is what the usual
rate of a key allows; with `--pace 0` each asks again as soon as it has its answer, and what is measured is
how much a server can do. The floor is GET /api/health, asked in the same way in the same run: no key, one
look at the database.
"""

import argparse
import asyncio
import json
import random
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from serving import serving

from thresher.admin.keys import create_key
from thresher.apps.roles.app import app as roles
from thresher.practice.postgres import practice_postgres
from thresher.runtime import open_store
from thresher.store.store import Store

RATE = 1_000_000
BATCH = 5_000
PLATFORMS = ("dice", "indeed", "monster", "glassdoor", "techfetch")

_ROLE = """insert into roles (id, name, status, priority, method, candidates, waiting_since, rank, created_at, updated_at)
    values (:id, :name, 'pending', 'normal', 'manual', :candidates, :now, :rank, :now, :now)"""
_NAME = "insert into role_names (key, name, role_id) values (:name, :name, :id)"
_TURN = "insert into role_turns (role_id, platform, state, rank) values (:id, :platform, 'waiting', :rank)"
_PLATFORM = "insert into platforms (name, created_at) values (:name, :now)"


def fill(store: Store, roles: int, platforms: int) -> None:
    """Roles that wait, with a few names each."""
    pick, names = random.Random(7), PLATFORMS[:platforms] or ("",)
    with store.write() as session:
        now = store.backend.now(session)
        session.many(_PLATFORM, [{"name": name, "now": now} for name in names if name])
    for start in range(1, roles + 1, BATCH):
        with store.write() as session:
            rows = [
                {
                    "id": at,
                    "name": f"role {at}",
                    "candidates": (wanted := int(pick.paretovariate(1.0))),
                    "now": now,
                    "rank": now - wanted,
                }
                for at in range(start, min(start + BATCH, roles + 1))
            ]
            session.many(_ROLE, rows)
            session.many(_NAME, [{"id": row["id"], "name": row["name"]} for row in rows])
            session.many(_NAME, [{"id": row["id"], "name": f"{row['name']} again"} for row in rows])
            session.many(
                _TURN,
                [{"id": row["id"], "rank": row["rank"], "platform": name} for row in rows for name in names],
            )


class Line:
    """One connection that stays open."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def open(self) -> "Line":
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def get(self, path: str, token: str | None) -> int:
        shown = f"X-Scraper-API-Key: {token}\r\n" if token else ""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\n{shown}\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = re.search(r"content-length: (\d+)", head)
        if length:
            await self._reader.readexactly(int(length[1]))
        return int(head.split()[1])

    def close(self) -> None:
        self._writer.close()


async def ask(
    line: Line, path: str, token: str | None, until: float, pace: float, seen: list[tuple[int, float]]
) -> None:
    """Ask again and again. A late answer does not make the next question later than it was due, so that no
    wait is left out."""
    clock = time.perf_counter
    due = clock() + random.random() / (pace or 1_000.0)
    while due < until:
        await asyncio.sleep(max(0.0, due - clock()))
        asked = due if pace else clock()
        status = await line.get(path, token)
        seen.append((status, clock() - asked))
        due = due + 1.0 / pace if pace else clock()


async def measure(
    url: str, path: str, tokens: list[str | None], seconds: float, pace: float
) -> dict[str, float]:
    host, _, port = url.removeprefix("http://").partition(":")
    lines = [await Line(host, int(port)).open() for _ in tokens]
    seen: list[tuple[int, float]] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(
        *(ask(line, path, token, until, pace, seen) for line, token in zip(lines, tokens, strict=True))
    )
    for line in lines:
        line.close()
    bad = [status for status, _ in seen if status != 200]
    assert not bad, f"{len(bad)} answers were not 200, the first {bad[0]}"
    waits = sorted(wait for _, wait in seen)

    def at(share: float) -> float:
        return round(waits[min(len(waits) - 1, int(share * len(waits)))] * 1_000, 2)

    return {
        "answers": len(waits),
        "a_second": round(len(waits) / seconds, 1),
        "p50_ms": at(0.5),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
    }


def run(asked: argparse.Namespace) -> dict[str, object]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = (
            f"sqlite:///{folder / 'bench.db'}"
            if asked.store == "sqlite"
            else stack.enter_context(practice_postgres()).url
        )
        store = open_store(url, apps=[roles])
        fill(store, asked.roles, asked.platforms)
        tokens: list[str | None] = [
            create_key(store, f"s{at}", ["scrape"], apps=[roles], rate=RATE).token
            for at in range(asked.scrapers)
        ]
        store.close()
        at, _ = stack.enter_context(serving(folder, url))
        nobody: list[str | None] = [None] * len(tokens)
        asyncio.run(measure(at, "/api/health", nobody, 1.0, 1.0))  # warm
        floor = asyncio.run(measure(at, "/api/health", nobody, asked.seconds / 2, asked.pace))
        stats = asyncio.run(
            measure(at, "/api/scraper/queue/current-session", tokens, asked.seconds / 2, asked.pace)
        )
        found = asyncio.run(measure(at, "/api/scraper/queue/next-role", tokens, asked.seconds, asked.pace))
    return {
        "store": asked.store,
        "roles": asked.roles,
        "platforms": asked.platforms,
        "scrapers": asked.scrapers,
        "pace": asked.pace,
        "health": floor,
        "current_session": stats,
        "next_role": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--roles", type=int, default=100_000)
    parser.add_argument("--platforms", type=int, default=0, choices=range(len(PLATFORMS) + 1))
    parser.add_argument("--scrapers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument(
        "--pace", type=float, default=1.0, help="questions a second of each scraper; 0: without a pause"
    )
    parser.add_argument("--json", action="store_true")
    found = run(parser.parse_args())
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:16} {value}")


if __name__ == "__main__":
    main()

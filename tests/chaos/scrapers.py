"""A campaign of scrapers: `python -m tests.chaos.scrapers --store sqlite|postgres [--seconds 60] [--scrapers
50] [--seed 1]`.

Two servers on one database, a few processes of scrapers, everybody killed now and then. Then everybody stops,
a calm scraper finishes what is left, and the checker reads the store beside the logs.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.nursery import Nursery, nursery
from tests.chaos.scrape_check import Found, check
from tests.chaos.scraper import PLATFORM, QUEUE, Log, Orders, Scraper, ask
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.apps.roles.app import app as roles
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import add_role, link_candidates, reset_roles
from thresher.core.record import Record
from thresher.practice.postgres import practice_postgres
from thresher.runtime import open_store
from thresher.store.store import Store

ROOM = Path(__file__).resolve().parents[2]
LEASE = 1.5
PROCESSES = 4
SERVERS = 2
ROLES = 40
DRAIN_SECONDS = 60.0
PATIENCE = 120.0
SEEN = {"claim", "forbidden", "0", "200", "404", "409"}
PROJECT = f"""apps: [roles]
database: {{url}}
settings:
  roles.session: {LEASE}
  roles.retry_base: 0.2
  roles.retry_cap: 0.5
  web.rate: 1000000
"""


@dataclass(frozen=True)
class Campaign:
    """How long at least, how many, and by which luck. It goes on until everything that is to be tried has
    come to pass."""

    url: str
    seconds: float = 0.0
    kills: int = 8
    scrapers: int = 50
    seed: int = 20_260


def run(campaign: Campaign, folder: Path) -> Found:
    """Everything, from an empty database to the verdict."""
    (folder / "thresher.yaml").write_text(PROJECT.format(url=campaign.url))
    store = open_store(campaign.url, apps=[roles])
    try:
        tokens = fill(store, campaign.scrapers)
        orders = Orders([free_port() for _ in range(SERVERS)], tokens, LEASE, campaign.seed, PROCESSES)
        (folder / "orders.json").write_text(json.dumps(vars(orders)))
        with nursery(folder) as servers:
            kills = disturb(campaign, folder, store, servers, orders)
            calm(folder, store, servers, orders)
        return check(store, folder, tokens, kills)
    finally:
        store.close()


def fill(store: Store, scrapers: int) -> list[str]:
    """Roles that somebody wants, so that they come back whenever they are done; and a key for every
    scraper."""
    write_records(store, [Record("candidate", "anna", {"name": "Anna"})])
    demand = Demand.of(store.settings)
    with store.write() as session:
        now = store.backend.now(session)
        (anna,) = [row[0] for row in session.rows("select id from records where kind = 'candidate'")]
        ids = [add_role(session, f"Role {at}", f"role {at}", now=now, demand=demand) for at in range(ROLES)]
        link_candidates(session, {role: [anna] for role in ids}, now, demand)
    return [
        create_key(store, f"scraper-{at}", ["scrape"], apps=[roles], sources=[PLATFORM], rate=1_000_000).token
        for at in range(scrapers)
    ]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def disturb(campaign: Campaign, folder: Path, store: Store, servers: Nursery, orders: Orders) -> int:
    """Let everybody work, and kill now a server, now a process of scrapers; how many were killed."""
    luck, kills, began = random.Random(campaign.seed), 0, time.monotonic()
    serving = {port: servers.serve(folder, port) for port in orders.ports}
    with contextlib.ExitStack() as stack:
        herds = [stack.enter_context(herd(folder, number)) for number in range(PROCESSES)]
        while time.monotonic() < began + campaign.seconds or not (
            kills >= campaign.kills and seen(folder) >= SEEN
        ):
            assert time.monotonic() < began + campaign.seconds + PATIENCE, f"{kills} kills, {seen(folder)}"
            time.sleep(0.2 + 0.5 * luck.random())
            if "claim" not in seen(folder):
                continue  # nobody is at work yet
            if luck.random() < 0.7:
                port = luck.choice(orders.ports)
                servers.kill(serving[port])
                serving[port] = servers.serve(folder, port)
            else:
                number = luck.randrange(PROCESSES)
                herds[number].end()
                herds[number].start()
            kills += 1
            bring_back(store)
    for pid in serving.values():
        servers.kill(pid)
    return kills


def seen(folder: Path) -> set[str]:
    """What has come to pass so far, by the logs of the scrapers."""
    lines = [
        json.loads(line)
        for path in folder.glob("scrapers-*.jsonl")
        for line in path.read_text().splitlines()
        if line.endswith("}")
    ]
    return {str(line["status"]) if line["what"] == "told" else line["what"] for line in lines}


def bring_back(store: Store) -> None:
    """What is done is wanted again, so that the race never ends."""
    with store.write() as session:
        now = store.backend.now(session)
        reset_roles(session, now, now, Demand.of(store.settings))


class Herd:
    """A process of scrapers that can be killed and started again."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number
        self.start()

    def start(self) -> None:
        with (self._folder / f"herd-{self._number}.log").open("ab") as log:
            words = [sys.executable, "-m", "tests.chaos.scraper", str(self._folder), str(self._number)]
            self._process = subprocess.Popen(
                words, cwd=ROOM, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def end(self) -> None:
        assert self._process.poll() is None, (self._folder / f"herd-{self._number}.log").read_text()[-2_000:]
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def herd(folder: Path, number: int) -> Iterator[Herd]:
    made = Herd(folder, number)
    try:
        yield made
    finally:
        made.end()


def calm(folder: Path, store: Store, servers: Nursery, orders: Orders) -> None:
    """One server, one scraper, nobody killed: every role must come to an end."""
    pid = servers.serve(folder, orders.ports[0])
    try:
        asyncio.run(_calm(folder, store, orders))
    finally:
        servers.kill(pid)


async def _calm(folder: Path, store: Store, orders: Orders) -> None:
    log = Log(folder / f"scrapers-calm-{os.getpid()}.jsonl")
    quiet = Orders(orders.ports[:1], orders.tokens, orders.lease, orders.seed, orders.processes)
    scraper = Scraper(0, orders.tokens[0], quiet, log, {}, random.Random(orders.seed))
    until = time.monotonic() + DRAIN_SECONDS
    while _unfinished(store) and time.monotonic() < until:
        status, raw = await ask(quiet.ports[0], "GET", f"{QUEUE}/next-role", scraper.token)
        if status == 200:
            offer: dict[str, Any] = json.loads(raw)
            scraper.note(offer)
            await scraper.honest(offer)
        else:
            await asyncio.sleep(0.1)  # a lease has to run out, or a turn to become due


def _unfinished(store: Store) -> bool:
    with store.read() as session:
        return bool(session.rows("select 1 from roles where status <> 'completed' limit 1"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--scrapers", type=int, default=50)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = (
            f"sqlite:///{folder / 'chaos.db'}"
            if asked.store == "sqlite"
            else stack.enter_context(practice_postgres()).url
        )
        found = run(Campaign(url, asked.seconds, asked.kills, asked.scrapers, asked.seed), folder)
    print(json.dumps({"seed": asked.seed, **vars(found)}, indent=2))
    sys.exit(1 if found.violations else 0)


if __name__ == "__main__":
    main()

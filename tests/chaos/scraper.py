"""Scrapers of a campaign, many in one process: `python -m tests.chaos.scraper FOLDER NUMBER`.

Most are honest. Some are late, some lie, some hang up in the middle of a word; their process is killed now
and then, and the next one goes on with what its keys still hold. Whatever a scraper is about to say, and what
it was told, goes into an append-only log: what was said and never answered is known to be unknown.
"""

import asyncio
import hashlib
import json
import os
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

QUEUE = "/api/scraper/queue"
PLATFORM = "board"
SHARED = 40  # postings that several roles find
PATIENCE = 10.0


@dataclass(frozen=True)
class Orders:
    """What the supervisor wrote down for all."""

    ports: list[int]
    tokens: list[str]
    lease: float
    seed: int
    processes: int

    @classmethod
    def read(cls, folder: Path) -> "Orders":
        return cls(**json.loads((folder / "orders.json").read_text()))


async def ask(
    port: int, method: str, path: str, token: str, body: bytes | None = None, cut: int | None = None
) -> tuple[int, bytes]:
    """Ask once, on a connection of its own; 0 where no whole answer came. With `cut` only so many bytes of
    the body are sent."""
    head = f"{method} {path} HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\nX-Scraper-API-Key: {token}\r\n"
    head += "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(head.encode() + b"\r\n" + (body or b"")[:cut])
                await writer.drain()
                if cut is not None:
                    return 0, b""
                return _read(await reader.read())
            finally:
                writer.close()
    except (OSError, TimeoutError, EOFError):
        return 0, b""


def _read(raw: bytes) -> tuple[int, bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
    whole = bool(head) and len(body) == length
    return (int(lines[0].split()[1]), body) if whole else (0, b"")


@dataclass
class Log:
    """One line an act. A line that was written is there, whatever happens to the process."""

    path: Path

    def __post_init__(self) -> None:
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, what: str, **said: Any) -> None:
        os.write(self._file, (json.dumps({"what": what, **said}) + "\n").encode())


@dataclass
class Scraper:
    """One scraper, with a key of its own."""

    number: int
    token: str
    orders: Orders
    log: Log
    others: dict[str, int]  # sessions that were met in this process, and whose they are
    luck: random.Random
    bodies: int = field(default=0)

    async def work(self) -> None:
        await self.recover()
        while True:
            status, raw = await self.get("/next-role")
            if status == 200:
                await self.turn(json.loads(raw))
            await asyncio.sleep(0.02 + 0.05 * self.luck.random())

    async def recover(self) -> None:
        """Go on with what this key holds: the process before this one was killed."""
        status, raw = await self.get("/current-session")
        for offer in json.loads(raw)["sessions"] if status == 200 else ():
            self.note(offer, again=True)
            await self.honest(offer)

    async def turn(self, offer: dict[str, Any]) -> None:
        self.note(offer)
        acts = (
            (self.honest, 8),
            (self.twice, 3),
            (self.late, 2),
            (self.torn, 2),
            (self.parts, 3),
            (self.give_up, 1),
            (self.forget, 2),
            (self.lie, 3),
            (self.strange, 1),
            (self.alive, 2),
            (self.nothing, 1),
        )
        (act,) = self.luck.choices([act for act, _ in acts], [weight for _, weight in acts])
        await act(offer)

    def note(self, offer: dict[str, Any], **more: Any) -> None:
        self.others[offer["session_id"]] = self.number
        self.log.write(
            "claim",
            key=self.number,
            session=offer["session_id"],
            role=offer["role"]["id"],
            at=time.time_ns() // 1_000,
            **more,
        )

    async def get(self, path: str) -> tuple[int, bytes]:
        return await ask(self.luck.choice(self.orders.ports), "GET", QUEUE + path, self.token)

    def body(self, session: str, **more: Any) -> tuple[bytes, list[str]]:
        """A body with one posting that no other body has, and a few that others have too."""
        self.bodies += 1
        own = f"own-{os.getpid()}-{self.number}-{self.bodies}"
        ids = [own, *(f"shared-{at}" for at in self.luck.sample(range(SHARED), 3))]
        jobs = [
            {"external_job_id": each, "platform": PLATFORM, "title": f"Posting {each}", "company": each}
            for each in ids
        ]
        return json.dumps({"session_id": session, "jobs": jobs, **more}).encode(), ids

    async def say(
        self, path: str, session: str, body: bytes, ids: list[str], cut: int | None = None, **more: Any
    ) -> int:
        """Say it, and write down that it was said and what came back. A lost answer is asked for again, a few
        times."""
        told = {
            "key": self.number,
            "path": path,
            "session": session,
            "digest": hashlib.sha256(body).hexdigest(),
            "ids": ids,
            **more,
        }
        self.log.write("said", **told)
        status, raw = 0, b""
        for _ in range(1 if cut is not None else 4):
            status, raw = await ask(
                self.luck.choice(self.orders.ports), "POST", QUEUE + path, self.token, body, cut
            )
            if status not in (0, 503):
                break
            await asyncio.sleep(0.1)
        self.log.write("told", **told, status=status, answer=json.loads(raw or b"null"))
        return status

    async def post(self, session: str, **more: Any) -> int:
        body, ids = self.body(session, **more)
        return await self.say("/jobs", session, body, ids)

    async def honest(self, offer: dict[str, Any]) -> None:
        await self.post(offer["session_id"])

    async def twice(self, offer: dict[str, Any]) -> None:
        """The same body twice at the same time."""
        body, ids = self.body(offer["session_id"])
        await asyncio.gather(*(self.say("/jobs", offer["session_id"], body, ids) for _ in range(2)))

    async def late(self, offer: dict[str, Any]) -> None:
        await asyncio.sleep(self.orders.lease * 1.3)
        body, ids = self.body(offer["session_id"])
        await self.say("/jobs", offer["session_id"], body, ids, late=True)

    async def torn(self, offer: dict[str, Any]) -> None:
        """Hangs up in the middle, then says it properly."""
        body, ids = self.body(offer["session_id"])
        await self.say("/jobs", offer["session_id"], body, ids, cut=self.luck.randrange(len(body)), torn=True)
        await self.post(offer["session_id"])

    async def parts(self, offer: dict[str, Any]) -> None:
        session = offer["session_id"]
        for _ in range(self.luck.randrange(1, 3)):
            await self.post(session, complete=False)
        await self.say("/complete", session, json.dumps({"session_id": session}).encode(), [])

    async def give_up(self, offer: dict[str, Any]) -> None:
        session, verdict = offer["session_id"], self.luck.choice(("failed", "blocked"))
        await self.say(
            "/fail",
            session,
            json.dumps({"session_id": session, "reason": "a bad day", "verdict": verdict}).encode(),
            [],
        )

    async def forget(self, offer: dict[str, Any]) -> None:
        """Takes a role and is never heard of again."""

    async def lie(self, offer: dict[str, Any]) -> None:
        """Speaks for somebody else, then for itself."""
        for session, owner in random.sample(list(self.others.items()), min(4, len(self.others))):
            if owner != self.number:
                path = self.luck.choice(("/jobs", "/fail", "/complete", "/heartbeat"))
                body, ids = (
                    self.body(session)
                    if path == "/jobs"
                    else (json.dumps({"session_id": session}).encode(), [])
                )
                await self.say(path, session, body, ids, lie=True)
        await self.honest(offer)

    async def strange(self, offer: dict[str, Any]) -> None:
        """Asks for a platform that its key may not look at, and brings postings of it."""
        status, _ = await self.get("/next-role?platforms=elsewhere")
        self.log.write("forbidden", key=self.number, status=status)
        body, ids = self.body(offer["session_id"])
        strange = body.replace(b'"platform": "board"', b'"platform": "elsewhere"')
        await self.say("/jobs", offer["session_id"], strange, ids, strange=True)

    async def alive(self, offer: dict[str, Any]) -> None:
        session = offer["session_id"]
        await asyncio.sleep(self.orders.lease / 3)
        await self.say("/heartbeat", session, json.dumps({"session_id": session}).encode(), [])
        await self.honest(offer)

    async def nothing(self, offer: dict[str, Any]) -> None:
        """An empty list proves nothing."""
        await self.say(
            "/jobs",
            offer["session_id"],
            json.dumps({"session_id": offer["session_id"], "jobs": []}).encode(),
            [],
            empty=True,
        )


async def main(folder: Path, process: int) -> None:
    orders, others = Orders.read(folder), dict[str, int]()
    log = Log(folder / f"scrapers-{process}-{os.getpid()}.jsonl")
    mine = [number for number in range(len(orders.tokens)) if number % orders.processes == process]
    luck = random.Random(f"{orders.seed}/{process}/{os.getpid()}")
    scrapers = [
        Scraper(number, orders.tokens[number], orders, log, others, random.Random(luck.random()))
        for number in mine
    ]
    await asyncio.gather(*(scraper.work() for scraper in scrapers))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))

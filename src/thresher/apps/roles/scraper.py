"""A scraper for the roles app: it takes roles from the queue, looks for postings, and hands them in. Standard
library only.

    THRESHER_URL=http://127.0.0.1:8000 THRESHER_KEY=thr_... python scraper.py BOARD

BOARD is the address of a list with one posting a line: id, title, company, place and address, with tabs
between them. Put a `look` of your own in its place; the rest can stay as it is.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

FIELDS = ("external_job_id", "title", "company", "location", "job_url")
TRIES = 8


Look = Callable[[str, dict[str, Any]], dict[str, Any]]


def ask(path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """Ask until there is an answer. Asking again is harmless: what a session is told twice counts once."""
    queue = os.environ.get("THRESHER_URL", "http://127.0.0.1:8000") + "/api/scraper/queue"
    key = f"Bearer {os.environ.get('THRESHER_KEY', '')}"
    headers = {"Authorization": key, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(TRIES):
        try:
            with urlopen(Request(queue + path, data, headers), timeout=60) as got:
                return got.status, json.loads(got.read() or b"null")
        except HTTPError as refused:
            if refused.code not in (429, 503):
                return refused.code, json.loads(refused.read())
            time.sleep(int(refused.headers.get("Retry-After") or 5))
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(2**attempt / 4)
    raise SystemExit(f"no answer from {queue}; does thresher serve run there? THRESHER_URL says where to ask")


def turns() -> Iterator[dict[str, Any]]:
    """What this key holds already, from a run that was killed; then one role after the other, until none
    waits.
    """
    status, held = ask("/current-session")
    if status != 200:
        raise SystemExit(held["detail"])
    yield from held["sessions"]
    while (got := ask("/next-role"))[0] == 200:
        yield got[1]


def look(board: str, role: dict[str, Any]) -> dict[str, Any]:
    """What the board has for a role. That it has nothing counts only with a proof: here, that the list as a
    whole is not empty.
    """
    with urlopen(board, timeout=60) as got:
        rows = [
            dict(zip(FIELDS, line.split("\t"), strict=False)) for line in got.read().decode().splitlines()
        ]
    names = [name.lower() for name in (role["name"], *role["aliases"])]
    found = [
        row | {"platform": "board"}
        for row in rows
        if any(name in row.get("title", "").lower() for name in names)
    ]
    empty = {
        "verdict": "empty",
        "proof": {"url": board, "control": {"query": "the whole list", "results": len(rows)}},
    }
    return {"jobs": found} | ({} if found or not rows else empty)


def main(board: str, look: Look = look) -> None:
    """Take every role that waits, and hand in what `look` finds for it."""
    for turn in turns():
        session, why = {"session_id": turn["session_id"]}, ""
        try:
            status, told = ask("/jobs", session | look(board, turn["role"]))
        except (OSError, ValueError) as problem:
            why = f"{type(problem).__name__}: {problem}"
            status, told = ask("/fail", session | {"reason": why})
        said = (
            f"{told['jobs_imported']} new"
            if "jobs_imported" in told
            else told.get("detail") or told["session_status"]
        )
        print(f"{turn['role']['name']}: {status}, {said}{why and f' ({why})'}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.environ.get("THRESHER_KEY"):
        raise SystemExit(
            "THRESHER_KEY=thr_... python scraper.py BOARD, where BOARD is the address of a list of postings"
        )
    main(sys.argv[1])

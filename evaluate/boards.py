"""Boards: platform and token of listed addresses, of pages that link to one, and of the trap that only looks
like one."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from evaluate.manifest import entries, share
from evaluate.score import Score
from thresher.reading.html.document import Document
from thresher.reading.platforms.boards import Board, fingerprint, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.platforms.platform import platform_named

HOMES = {
    "ashby": "https://jobs.ashbyhq.com/{}",
    "bamboohr": "https://{}.bamboohr.com/careers",
    "greenhouse": "https://boards.greenhouse.io/{}",
    "lever": "https://jobs.lever.co/{}",
    "personio": "https://{}.jobs.personio.de",
    "recruitee": "https://{}.recruitee.com",
    "smartrecruiters": "https://careers.smartrecruiters.com/{}",
    "workable": "https://apply.workable.com/{}",
    "rippling": "https://ats.rippling.com/{}/jobs",
    "gem": "https://jobs.gem.com/{}",
}


def scores(corpus: Path) -> list[Score]:
    cases = [case for entry in entries(corpus, "boards/") for case in _cases(entry.path)]
    return [*_listed(cases), _linked(corpus), _asked(cases)]


def _listed(cases: list[tuple[str, str, str]]) -> list[Score]:
    seen = [
        (f"{url}: {platform} {token}", (platform, token.lower()), recognise(url))
        for url, platform, token in cases
    ]
    misses = tuple(
        f"{what}, read {board}" for what, wanted, board in seen if board is None or _of(board) != wanted
    )
    wrong = tuple(
        f"{what}, read {board}" for what, wanted, board in seen if board is not None and _of(board) != wanted
    )
    return [
        Score(
            "boards",
            "platform and token of an address",
            share(len(cases) - len(misses), len(cases)),
            len(cases),
            0.99,
            misses=misses,
        ),
        Score(
            "boards",
            "addresses given to another board",
            float(len(wrong)),
            len(cases),
            0.0,
            lower=True,
            misses=wrong,
        ),
    ]


def _of(board: Board) -> tuple[str, str]:
    return board.platform, (board.token or "").lower()


def _asked(cases: list[tuple[str, str, str]]) -> Score:
    """Boards that can be asked for their list, of platforms that answer. An address may name the tenant and
    not the site."""
    seen = [(board, platform_named(board.platform)) for url, _, _ in cases if (board := recognise(url))]
    boards = [board for board, platform in seen if platform and platform.endpoint]
    silent = tuple(str(board) for board in boards if list_call(board) is None)
    return Score(
        "boards",
        "boards whose list can be asked for",
        share(len(boards) - len(silent), len(boards)),
        len(boards),
        misses=silent,
    )


def _cases(path: Path) -> Iterator[tuple[str, str, str]]:
    name = path.stem.removesuffix("_companies")
    data = (
        json.loads(path.read_text("utf-8"))
        if path.suffix == ".json"
        else list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    )
    if isinstance(data, dict):
        for platform, rows in data.items():
            for row in rows if platform in HOMES else []:
                token = (
                    row
                    if isinstance(row, str)
                    else row.get("board") or row.get("token") or row.get("slug") or ""
                )
                if token:
                    yield HOMES[platform].format(token), platform, unquote(token)
        return
    for row in data:
        if isinstance(row, str):
            yield _of_token(name, row)
        elif (url := row.get("url")) and recognise(
            HOMES.get(name, "").format("x") or "https://x.wd1.myworkdayjobs.com/y"
        ):
            yield url, name, _token(name, url)


def _of_token(platform: str, row: str) -> tuple[str, str, str]:
    if platform == "workday":
        tenant, centre, site = row.split("|")
        return f"https://{tenant}.{centre}.myworkdayjobs.com/{site}", platform, tenant
    return HOMES[platform].format(row), platform, unquote(row)


def _token(platform: str, url: str) -> str:
    host, _, path = url.partition("://")[2].partition("/")
    if platform in ("workday", "recruitee", "personio", "bamboohr", "teamtailor", "breezy", "pinpoint"):
        return host.partition(".")[0]
    path = re.sub(r"^oneclick-ui/company/", "", path)
    return unquote(re.split(r"[/?#]", path)[0]).strip()


def _linked(corpus: Path) -> Score:
    cases = list(entries(corpus, "companies/ats-"))
    misses = []
    for entry in cases:
        board = fingerprint(Document.of(entry.page("https://company.invalid/")))
        got = (board.platform, board.token) if board else (None, None)
        if got != (entry.truth.get("ats"), entry.truth.get("token")):
            misses.append(f"{entry.file}: read {board}")
    return Score(
        "boards",
        "board of a company's page, traps included",
        share(len(cases) - len(misses), len(cases)),
        len(cases),
        1.0,
        misses=tuple(misses),
    )

"""Boards: platform and token of listed addresses, of pages that link to one, and of the trap that only looks like one."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from evaluate.manifest import entries, share
from evaluate.score import Score
from thresher.reading.boards import fingerprint, recognise
from thresher.reading.document import Document

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
    return [_listed(corpus), _linked(corpus)]


def _listed(corpus: Path) -> Score:
    cases = [case for entry in entries(corpus, "boards/") for case in _cases(entry.path)]
    misses = []
    for url, platform, token in cases:
        board = recognise(url)
        if board is None or board.platform != platform or (board.token or "").lower() != token.lower():
            misses.append(f"{url}: {platform} {token}, read {board}")
    return Score(
        "boards", "platform and token of an address", share(len(cases) - len(misses), len(cases)), len(cases), 0.99, misses=tuple(misses)
    )


def _cases(path: Path) -> Iterator[tuple[str, str, str]]:
    name = path.stem.removesuffix("_companies")
    data = json.loads(path.read_text("utf-8")) if path.suffix == ".json" else list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    if isinstance(data, dict):
        for platform, rows in data.items():
            for row in rows if platform in HOMES else []:
                token = row if isinstance(row, str) else row.get("board") or row.get("token") or row.get("slug") or ""
                if token:
                    yield HOMES[platform].format(token), platform, unquote(token)
        return
    for row in data:
        if isinstance(row, str):
            yield _of_token(name, row)
        elif (url := row.get("url")) and recognise(HOMES.get(name, "").format("x") or "https://x.wd1.myworkdayjobs.com/y"):
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

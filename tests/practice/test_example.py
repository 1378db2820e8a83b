"""The example that crawls two practice companies: it brings what is there, and the server has nothing to
complain about."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from thresher.practice.web import DAY_ZERO, company, peak, postings, practice_process

EXAMPLE = Path(__file__).parents[2] / "examples" / "practice.py"


@pytest.mark.promise(16)
def test_two_companies_are_crawled_whole_and_politely(tmp_path: Path):
    shutil.copy(EXAMPLE, tmp_path)
    with practice_process(seed=7) as web:
        project = f'apps: [practice.py]\nfetch:\n  contact: https://example.com/bot\n  resolve: {{"*": "{web.url}"}}\n'
        (tmp_path / "thresher.yaml").write_text(project, "utf-8")
        line = [sys.executable, "-m", "thresher", "run", "--json"]
        surroundings = {**os.environ, "THRESHER_DATABASE_URL": "sqlite:///queue.db"}
        ran = subprocess.run(
            line, cwd=tmp_path, env=surroundings, capture_output=True, text=True, timeout=90, check=False
        )
        assert ran.returncode == 0, ran.stderr
        log = web.log()
    with sqlite3.connect(tmp_path / "queue.db") as database:
        titles = [
            json.loads(data)["title"]
            for (data,) in database.execute("select data from records where kind = 'posting'")
        ]
    there = [each.title for name in ("acme", "kestrel") for each in postings(7, company(7, name), DAY_ZERO)]
    assert sorted(titles) == sorted(there)
    for host in {each.host for each in log}:
        of_host = [each for each in log if each.host == host]
        assert of_host[0].path == "/robots.txt"
        assert [each.path for each in of_host].count("/robots.txt") == 1
        assert peak(of_host) == 1
    assert {each.headers["user-agent"].partition("/")[0] for each in log} == {"Thresher"}
    assert all("(+https://example.com/bot)" in each.headers["user-agent"] for each in log)

"""Every example runs to its end in a process of its own, and brings what the documentation says."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.harness.databases import drop_schema
from tests.house import pictures
from tests.house.paper import ROOT, blocks
from thresher.apps.roles.demo import CANDIDATES
from thresher.practice.web import DAY_ZERO, company, item_changes, planted, postings, practice_process

EXAMPLES = ROOT / "examples"
THRESHER = (sys.executable, "-m", "thresher")
FILES = sorted(path.name for path in EXAMPLES.glob("*.py"))


class Ran:
    """A finished run: its exit code, its answer, and the database it left."""

    def __init__(self, folder: Path, code: int, answer: dict[str, Any]) -> None:
        self.code, self.answer = code, answer
        self._database = folder / "queue.db"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self._database) as connection:
            return connection.execute(sql).fetchall()


def run(folder: Path, app: str, more: str = "") -> Ran:
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    project = (EXAMPLES / "thresher.yaml").read_text("utf-8").replace("[orchard.py]", f"[{app}]")
    if more:  # in place of its own settings
        project = project.partition("\nsettings:")[0] + more
    (folder / "thresher.yaml").write_text(project, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "thresher", "run", "--json"],
        cwd=folder,
        timeout=60,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "THRESHER_DATABASE_URL": "sqlite:///queue.db"},
    )
    assert done.returncode in (0, 1), done.stderr
    return Ran(folder, done.returncode, json.loads(done.stdout))


def test_every_example_has_a_test_here():
    tested = ["courses.py", "greetings.py", "library.py", "orchard.py"]
    elsewhere = {"practice.py": "tests/practice/test_example.py"}
    assert sorted([*tested, *elsewhere]) == FILES
    assert all((ROOT / test).exists() for test in elsewhere.values())


def test_greetings_greets_those_on_the_list(tmp_path: Path):
    ran = run(tmp_path, "greetings.py")
    assert ran.code == 0
    assert ran.rows("select kind, key, data from records order by key") == [
        ("greeting", "Ada", '{"text":"Hello, Ada"}'),
        ("greeting", "Grace", '{"text":"Hello, Grace"}'),
    ]
    assert ran.rows("select reason from tasks where state = 'filtered'") == [("not on the list",)]


def test_the_library_gives_what_the_tutorial_shows(tmp_path: Path):
    ran = run(tmp_path, "library.py")
    assert ran.code == 1, "Hamlet is not on its shelf"
    assert ran.answer["attempts"] == {"done": 4, "next": 4, "failed": 1, "retry": 1, "filtered": 1}
    assert ran.rows("select key, data from records order by key") == [
        ("Emma", '{"pages":474}'),
        ("Kim", '{"pages":368}'),
        ("Moby-Dick", '{"pages":635}'),
    ]
    assert ran.rows(
        "select key, name, target from records join links on record_id = records.id order by key"
    ) == [("Emma", "shelf", "A"), ("Kim", "shelf", "A"), ("Moby-Dick", "shelf", "B")]
    assert ran.rows("select error_name, reason from tasks where state = 'failed'") == [
        ("Permanent", "Hamlet is not on its shelf")
    ]


@pytest.mark.promise(6)
def test_the_orchard_grows_its_103_tasks_and_no_loop(tmp_path: Path):
    ran = run(tmp_path, "orchard.py")
    assert (ran.code == 1) == bool(ran.answer["failed"])  # a ladder may wobble four times in a row
    assert ran.rows("select count(*) from tasks") == [(103,)]
    assert ran.rows("select count(*) from tasks where kind = 'pick'") == [(48,)]
    assert ran.rows("select count(*) from tasks where state in ('pending', 'running', 'retryable')") == [(0,)]
    (apples,), (rest,) = ran.rows(
        "select count(*) from records union all select count(*) from tasks where state in ('filtered', 'failed')"
    )
    assert apples + rest == 48
    assert ran.rows("select rule, count(*) from refusals group by rule") == [("in_ancestry", 7)]


MODELS = """
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}}}
models:
  providers:
    practice: {{kind: openai, base_url: "{web}/v1", key: none-is-needed-here}}
  cheap: practice/practice-small
  prices: {{"practice/practice-small": {{input: 0.25, output: 2}}}}
settings: {{host.interval: 0.001, retry.base: 0.1}}
"""


def test_the_courses_are_read_by_a_model_until_they_are_learned(tmp_path: Path):
    with practice_process(7) as web:
        ran = run(tmp_path, "courses.py", MODELS.format(web=web.url))
    assert ran.code == 0
    read = dict(ran.rows("select data ->> 'read_by', count(*) from records where kind = 'course' group by 1"))
    assert sum(read.values()) == 12
    assert read["model"] > 0 < read["learned"]


def test_the_tutorial_prints_the_crawl_as_it_is():
    printed = [block.text for block in blocks("python") if block.page == "docs/tutorial/first-crawl.md"]
    assert printed == [(EXAMPLES / "practice.py").read_text("utf-8")]


CATALOGUE = "n24.numbered"  # the site that the demo extracts
# Which companies of the demo have their postings read, and in which words the demo must own up to the others.
FOUND = ("acme", "fathom", "garnet", "heron", "isthmus")
NOT_FOUND = {
    "borealis": "waits for you thresher boards enable lever:borealis",
    "marlin": "blocked www.marlin.example answered 403 Forbidden, and the page is a wall: a Cloudflare challenge",
    "nettle": "refused no page of https://www.nettle.example/ could be read: Refused: robots.txt forbids Thresher",
    "verbena": "unknown no board was found",
}


class Demo:
    """The demo in a folder of its own. `changed` are names of its module, with other values for them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.database = folder, folder / "thresher-demo" / "demo.db"
        self.changed: dict[str, str] = {}
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *words: str) -> subprocess.Popen[str]:
        changes = "".join(f"demo.{name} = {value}\n" for name, value in self.changed.items())
        program = f"import sys\nfrom thresher.cli import demo, main\n{changes}sys.exit(main(sys.argv[1:]))"
        # Its database is its own, whatever is said of others.
        surroundings = {
            **os.environ,
            "COLUMNS": "200",
            "THRESHER_DATABASE_URL": "sqlite:////nowhere/queue.db",
        }
        process = subprocess.Popen(
            [sys.executable, "-c", program, "demo", *words],
            cwd=self.folder,
            env=surroundings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """Whatever a failed test left at work would go on for ever: it, and all that it started itself."""
        for process in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def until(self, sql: str, process: "subprocess.Popen[str]") -> None:
        """Until a statement finds a row: nobody watches, so nothing is printed on the way."""
        for _ in range(1_200):
            assert process.poll() is None, process.communicate()
            with contextlib.suppress(sqlite3.OperationalError):  # it is being made
                with contextlib.closing(
                    sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
                ) as database:
                    if database.execute(sql).fetchall():
                        return
            time.sleep(0.1)
        raise AssertionError(f"never: {sql}")

    def one(self, sql: str) -> int:
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as database:
            return int(database.execute(sql).fetchone()[0])

    def worker(self) -> subprocess.Popen[str]:
        """A worker on this database, of the project that the demo has written."""
        process = subprocess.Popen(
            [*THRESHER, "--project", "thresher-demo", "--database", f"sqlite:///{self.database}", "worker"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def run(self, *words: str) -> str:
        process = self.start("--once", *words)
        said, wrong = process.communicate(timeout=300)
        assert process.returncode == 0, wrong
        return said

    def serve(self, visit: Callable[[str], object] = str) -> str:
        """What it says until it serves the dashboard, which is there, and can be stopped. Meanwhile somebody
        may visit it by the link for its first administrator.
        """
        process, said = self.start("--port", "0"), ""
        assert process.stdout is not None
        while "The dashboard is at" not in said:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            said += line
        found = re.search(r"http://[\d.:]+", line)
        assert found
        with urlopen(f"{found[0]}/setup", timeout=60) as got:
            assert b"First administrator" in got.read()
        link = pictures.SETUP.search(process.stdout.readline())
        assert link
        visit(link[0])
        process.send_signal(signal.SIGINT)
        _, wrong = process.communicate(timeout=60)
        assert process.returncode == 0, wrong
        return said

    def only(self, *companies: str) -> None:
        """Fewer companies, for a short run."""
        self.changed["COMPANIES"] = repr(companies)

    def move_the_wall_to(self, host: str) -> None:
        knobs = f'tuple(replace(each, host="{host}") if each.trouble == demo.Trouble.CAPTCHA else each for each in demo.TROUBLE)'
        self.changed["TROUBLE"] = knobs.replace("replace(", "__import__('dataclasses').replace(")

    def count(self, kind: str) -> int:
        with sqlite3.connect(self.database) as connection:
            return int(
                connection.execute("select count(*) from records where kind = ?", (kind,)).fetchone()[0]
            )

    def scraped(self) -> int:
        """How many postings the scraper brought."""
        with sqlite3.connect(self.database) as connection:
            sql = "select count(*) from records where kind = 'posting' and key like 'search/%'"
            return int(connection.execute(sql).fetchone()[0])

    def searched(self) -> int:
        """How many postings the queries found."""
        with sqlite3.connect(self.database) as connection:
            sql = "select count(*) from records where kind = 'posting' and key like 'practice/%'"
            return int(connection.execute(sql).fetchone()[0])

    def extracted(self) -> set[str]:
        """The names of the items in the first data set, in lower case."""
        with sqlite3.connect(self.database) as connection:
            sql = "select item_key from data_items where dataset_id = 1"
            return {key for (key,) in connection.execute(sql)}

    def postings(self) -> dict[str, int]:
        """How many are in the database, by company."""
        sql = """select l.target, count(*) from records r join links l on l.record_id = r.id
            where r.kind = 'posting' and l.name = 'company' group by l.target"""
        with sqlite3.connect(self.database) as connection:
            return {target.removesuffix(".example"): count for target, count in connection.execute(sql)}


def copied(folder: Path, source: str, to: str) -> dict[str, Any]:
    """What the command says of a copy: rows and hash of each table, and how many workers were at work."""
    words = [*THRESHER, "--project", "thresher-demo", "--database", source, "copy", "--to", to, "--json"]
    done = subprocess.run(words, cwd=folder, timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    tables = {each["table"]: (each["rows"], each["hash"]) for each in found["tables"]}
    return {"tables": tables, "workers": found["workers"]}


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    made = Demo(tmp_path)
    yield made
    made.stop()


def rows_of(said: str) -> dict[str, str]:
    """The lines of the report by their first word, each with single spaces."""
    lines = [" ".join(line.split()) for line in said.partition("What was found")[2].splitlines()]
    return {line.partition(" ")[0]: line for line in lines}


@pytest.mark.promise(7)
@pytest.mark.promise(16)
def test_the_demo_goes_on_after_ctrl_c_and_tells_what_it_found_and_what_not(demo: Demo, tmp_path: Path):
    interrupted = demo.start()
    demo.until("select 1 from tasks where kind = 'job' and state = 'succeeded'", interrupted)
    interrupted.send_signal(signal.SIGINT)
    said, wrong = interrupted.communicate(timeout=180)
    assert interrupted.returncode == 0, wrong
    assert said == "\nNothing is lost: thresher demo goes on where this stopped.\n", "nobody watched"
    said = demo.serve(lambda link: pictures.take(link, tmp_path / "pictures"))
    assert pictures.differing(tmp_path / "pictures") == [], "run: make screenshots"
    there = {name: len(postings(7, company(7, name), DAY_ZERO)) for name in FOUND}
    assert {name: number for name, number in demo.postings().items() if name in there} == there
    rows = rows_of(said)
    for name, number in there.items():
        assert re.match(rf"{name} [A-DS] {number} found", rows[name]), rows[name]
    for name, words in NOT_FOUND.items():
        assert re.match(rf"{name} [A-DS–] – {re.escape(words)}", rows[name]), rows[name]
    shown = [
        " ".join(line.split())
        for block in blocks("text")
        if block.page == "README.md"
        for line in block.text.splitlines()
    ]
    promised = [line for line in shown if line.partition(" ")[0] in {*FOUND, *NOT_FOUND}]
    assert promised
    assert [line for line in promised if line not in rows.values()] == [], (
        "the README shows other lines than the demo prints"
    )
    assert "at every host 1 at a time, never closer than 0.5" in " ".join(said.split())
    others = demo.scraped() + demo.searched()
    assert demo.count("decision") == demo.count("posting") - others > 0
    assert demo.scraped() > 0 < demo.searched()
    searched = said.partition("What was searched")[2].partition("How the web saw it")[0]
    assert searched.count("SUCCESS") == 6, "three queries, and a run of each"
    assert "▓▓▓▓" in searched
    assert re.search(r"^ *7 +\S.* payroll +https://", searched, re.MULTILINE)
    assert demo.count("match") > 0
    candidates = [line.partition(",")[0] for line in CANDIDATES.splitlines()[1:]]
    told = said.partition("Whom to call about what")[2]
    assert [name for name in candidates if name not in told] == [], "every candidate has a posting that suits"
    assert demo.extracted() == {str(each.fields["name"]).lower() for each in planted(CATALOGUE, 7, DAY_ZERO)}
    assert "Its cost: nothing." in " ".join(said.split())
    assert (tmp_path / "thresher-demo" / ".gitignore").read_text("utf-8") == "*\n"


@pytest.mark.promise(7)
def test_the_next_run_of_the_demo_is_the_next_day_and_tells_the_news_but_calls_nothing_gone_that_it_could_not_see(
    demo: Demo,
):
    demo.only("acme", "garnet", "heron")
    counted = json.loads(demo.run("--json"))
    there = demo.postings()
    assert set(counted) == {"extractions", "jobs", "prices", "queries", "roles"}
    assert counted["jobs"]["postings"] == sum(there.values()) == counted["jobs"]["decisions"]
    assert (counted["roles"]["candidates"], counted["roles"]["postings"]) == (8, demo.scraped())
    assert (counted["queries"]["runs"], counted["queries"]["offers"]) == (3, demo.searched())
    assert counted["extractions"]["items"] == len(demo.extracted())
    assert counted["prices"]["items"] == counted["prices"]["valuations"] == 2
    demo.move_the_wall_to("heron.jobs.personio.de")
    said = demo.serve()
    rows = rows_of(said)
    for name in ("acme", "garnet"):
        before, after = (
            {each.id for each in postings(7, company(7, name), DAY_ZERO + timedelta(days=day))}
            for day in (0, 1)
        )
        # What is missed once is not yet gone.
        assert re.match(
            rf"{name} [A-DS] {len(before | after)} {len(after - before) or '–'} – found", rows[name]
        ), rows[name]
    assert demo.postings()["heron"] == there["heron"] > 0
    news = item_changes(CATALOGUE, 7, DAY_ZERO, DAY_ZERO + timedelta(days=1))
    assert f"{len(news.new)} new, {len(news.changed)} changed, {len(news.gone)} gone, " in said
    with sqlite3.connect(demo.database) as connection:
        closed = connection.execute(
            "select count(*) from marks where kind = 'posting' and name = 'state' and word = 'closed'"
        ).fetchone()
    assert closed == (0,)


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_a_demo_at_work_is_copied_to_postgresql_and_back_and_the_copy_goes_on(
    demo: Demo, postgres_url: str, tmp_path: Path
):
    there = f"{postgres_url}?schema=copy_{secrets.token_hex(6)}"
    back = Demo(tmp_path)
    back.database = tmp_path / "back.db"
    working = demo.start("--once")
    try:
        demo.until("select 1 from tasks where kind = 'job' and state = 'succeeded'", working)
        away = copied(tmp_path, f"sqlite:///{demo.database}", there)
        assert working.poll() is None
        assert away["workers"] == 1, "it is copied while its worker works"
        home = copied(tmp_path, there, f"sqlite:///{back.database}")
        assert set(away["tables"]) == set(home["tables"])
        # Nobody holds a lease in a copy; all else is as it was at that moment.
        differing = {name for name in away["tables"] if away["tables"][name] != home["tables"][name]}
        assert differing == {"workers"}
        assert away["tables"]["workers"][0] == home["tables"]["workers"][0]
        assert sum(rows > 0 for rows, _ in away["tables"].values()) > 30, "all apps are in it"
        ended = "select count(*) from tasks where finished_at is not null"
        before = back.one(ended)
        demo.until(f"select 1 where ({ended}) > {before}", working)  # it works on
        assert back.one("select count(*) from tasks where finished_at is null") > 0
        worker = back.worker()
        back.until(f"select 1 where ({ended}) > {before}", worker)
    finally:
        back.stop()
        drop_schema(there)

"""`thresher inspect`: several files, one object a line; a file that cannot be read costs only itself."""

import contextlib
import gzip
import json
import signal
import time
import zlib
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Result
from tests.engine.test_process_pool import until_gone
from tests.harness.forks import Command
from thresher.cli import main
from thresher.core.errors import TooLarge, TooSlow

# A few seconds of reading, below every other limit.
# As many cards as a page may have: seconds of reading.
SLOW = "".join(
    f"<div class=a{each % 50}><h2>Job {each}</h2><a href=/j/{each}>Engineer {each}</a><span>Berlin</span></div>"
    for each in range(60_000)
)
PAGE = "<title>Acme</title><h1>Ladder</h1><p class=price>£51.77</p>"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> Result:
        code = main(["inspect", *args])
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call


def write(path: Path, body: str | bytes = PAGE) -> str:
    path.write_bytes(body.encode() if isinstance(body, str) else body)
    return str(path)


def objects(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.out.splitlines()]


def test_several_files_give_one_object_a_line(run, tmp_path: Path):
    names = [write(tmp_path / "a.html"), write(tmp_path / "b.json", '{"jobs": [], "meta": {"total": 0}}')]
    result = run(*names, "--json")
    assert result.code == 0
    assert [(found["source"], found["verdict"]) for found in objects(result)] == [
        (names[0], "found"),
        (names[1], "confirmed_empty"),
    ]


def test_a_file_that_cannot_be_read_costs_only_itself(run, tmp_path: Path):
    result = run(str(tmp_path / "missing.html"), write(tmp_path / "a.html"), str(tmp_path), "--json")
    assert result.code != 0
    missing, good, folder = objects(result)
    assert "no file" in missing["error"]
    assert good["products"][0]["price"]["amount_minor"] == 5177
    assert "cannot be read" in folder["error"]


def test_a_gzipped_page_is_unpacked(run, tmp_path: Path):
    (found,) = objects(run(write(tmp_path / "a.html.gz", gzip.compress(PAGE.encode())), "--json"))
    assert found["title"] == "Acme"


def test_an_answer_of_a_marketplace_shows_what_it_offers_with_amount_and_currency(run, tmp_path: Path):
    rows = [
        {"title": "Ladder", "price": {"value": "51.77", "currency": "EUR"}},
        {"title": "Rung", "price": "7 €"},
    ]
    name = write(tmp_path / "answer.json", json.dumps({"total": 2, "itemSummaries": rows}))
    (found,) = objects(run(name, "--json"))
    prices = [
        (each["name"], each["price"]["amount_minor"], each["price"]["currency"]) for each in found["products"]
    ]
    assert prices == [("Ladder", 5177, "EUR"), ("Rung", 700, "EUR")]
    shown = run(name).out
    assert "51.77 EUR" in shown
    assert "7 €" in shown
    assert "7 € EUR" not in shown


@pytest.mark.promise(18)
def test_a_gzip_bomb_is_refused(run, tmp_path: Path):
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(b"a" * 1_000_000) for _ in range(60)) + packer.flush()
    result = run(write(tmp_path / "bomb.html.gz", bomb), "--json")
    assert result.code != 0
    assert "decompresses to more than" in objects(result)[0]["error"]


def test_half_a_gzip_file_is_read_as_far_as_it_goes_or_refused(run, tmp_path: Path):
    result = run(write(tmp_path / "a.html.gz", b"\x1f\x8bnot gzip"), "--json")
    assert result.code != 0
    assert "gzip" in objects(result)[0]["error"]


def test_the_base_url_makes_links_whole(run, tmp_path: Path):
    body = "<title>Acme</title><a href='/careers'>Careers</a><p>We make ladders.</p>"
    (found,) = objects(
        run(write(tmp_path / "a.html", body), "--base-url", "https://acme.example/x", "--json")
    )
    assert found["company"]["careers_url"] == "https://acme.example/careers"


def test_a_base_that_is_no_address_is_named(run, tmp_path: Path):
    result = run(write(tmp_path / "a.html"), "--base-url", "nonsense")
    assert result.code == 2
    assert "nonsense" in result.err


def test_people_get_the_verdict_first_and_what_to_do_last(run, tmp_path: Path):
    result = run(write(tmp_path / "a.html", "<title>Just a moment...</title><p>Checking your browser</p>"))
    lines = [line.strip() for line in result.out.splitlines() if line.strip()]
    assert lines[1].startswith("blocked")
    assert "bot wall" in result.out
    assert lines[-1].startswith("Do not force it")


@pytest.mark.promise(18)
@pytest.mark.promise(8)
def test_a_page_that_holds_its_reader_is_stopped_at_its_limit_and_costs_only_itself(run, tmp_path: Path):
    write(tmp_path / "thresher.yaml", "settings: {isolation.seconds: 0.3}")
    result = run(write(tmp_path / "slow.html", SLOW), write(tmp_path / "a.html"), "--json")
    slow, good = objects(result)
    assert (result.code, slow["verdict"], good["verdict"]) == (TooSlow.exit_code, "unknown", "found")
    assert "took longer than 0.3 seconds and was stopped" in slow["error"]
    assert result.err == ""


@pytest.mark.promise(18)
def test_a_page_that_takes_too_much_memory_is_stopped_and_says_so(run, tmp_path: Path):
    write(tmp_path / "thresher.yaml", "settings: {isolation.memory: 64}")
    result = run(write(tmp_path / "large.txt", b"a b " * 9_000_000), "--json")
    assert (result.code, "more than 64 MB of memory" in objects(result)[0]["error"]) == (
        TooLarge.exit_code,
        True,
    )


@pytest.mark.promise(8)
def test_ctrl_c_ends_the_command_while_a_page_is_read(tmp_path: Path):
    write(tmp_path / "thresher.yaml", "settings: {isolation.seconds: 600}")
    command = Command("inspect", write(tmp_path / "slow.html", SLOW), folder=tmp_path)
    reader = wait_for_reader(command.pid)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(30)
    assert (command.returncode, said) == (130, "")
    until_gone(reader)
    command.close()


def wait_for_reader(pid: int) -> int:
    """The process that reads a page for a command: a child of its child, and busy."""
    while True:
        with contextlib.suppress(psutil.NoSuchProcess):
            for child in psutil.Process(pid).children():
                for found in child.children():
                    if found.cpu_times().user > 0.05:
                        return found.pid
        time.sleep(0.02)


@pytest.mark.promise(17)
def test_a_hostile_page_does_not_steer_the_terminal(run, tmp_path: Path):
    result = run(
        write(tmp_path / "a.html", "<title>\x1b[31mred</title><h1>\x1b]0;x\x07</h1><p class=price>£1</p>")
    )
    assert "\x1b" not in result.out


@pytest.mark.promise(17)
def test_an_address_of_this_machine_is_refused(run):
    result = run("http://127.0.0.1/", "--json")
    assert result.code != 0
    (found,) = objects(result)
    assert found["verdict"] == "unknown"
    assert "loopback" in found["error"]


def test_the_timings_say_how_long_reading_took(run, tmp_path: Path):
    (found,) = objects(run(write(tmp_path / "a.html"), "--json"))
    assert found["timings"]["reading"] >= 0

from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher, added
from thresher.config.project import read_project
from thresher.core.answer import Usage
from thresher.core.clock import MINUTE
from thresher.runtime import open_store
from thresher.store import ledger

CAPS = ledger.Caps(10**9, 10**9, 10**9)


@pytest.fixture
def spent(project: Path, queue: Thresher) -> Thresher:
    """A project whose apps have asked models."""
    with closing(open_store(f"sqlite:///{project / 'thresher.db'}", read_project(project))) as store:
        for app, cost in (("roles", 1_250_000), ("prices\x1b[31m", 20_000)):
            hold = ledger.reserve(
                store,
                claim=None,
                app=app,
                provider="openai",
                model="mini",
                prompt="extract",
                question=app,
                most=2_000_000,
                caps=CAPS,
                expires_us=MINUTE,
            )
            assert isinstance(hold, ledger.Hold)
            ledger.settle(store, hold, cost, Usage(1, 1_200, 34))
    return queue


@pytest.mark.promise(20)
def test_costs_are_shown_with_what_is_left_today(spent: Thresher):
    shown = spent("costs", "--by", "app").out
    for word in ("$1.25", "$0.02", "$1.27", "1,200", "$10.00", "$8.73", "$3.75", "today (UTC)"):
        assert word in shown
    assert "\x1b" not in shown


@pytest.mark.promise(20)
def test_costs_as_json_are_whole_millionths(spent: Thresher):
    found = spent("costs", "--by", "model", "--since", "1h", "--json").json
    assert [(line["model"], line["calls"], line["spent"]) for line in found["lines"]] == [
        ("openai/mini", 2, 1_270_000)
    ]
    assert found["today"][-1]["left"] == 8_730_000


@pytest.mark.promise(20)
def test_every_call_is_a_row_that_can_be_looked_at(spent: Thresher):
    newest, oldest = spent("costs", "--calls", "--json").json
    assert (oldest["app"], oldest["state"], oldest["reserved"], oldest["spent"]) == (
        "roles",
        "settled",
        2_000_000,
        1_250_000,
    )
    assert newest["at"] >= oldest["at"] > "2026"
    shown = spent("costs", "--calls").out
    assert ("openai/mini" in shown, "$1.25" in shown, "\x1b" in shown) == (True, True, False)
    assert spent("costs", "--task", "7", "--json").json == spent("costs", "--run", "7", "--json").json == []
    assert "No model was called." in spent("costs", "--task", "7").out


def test_a_queue_that_never_asked_a_model_says_so(queue: Thresher):
    result = queue("costs")
    assert (result.code, "No model was called." in result.out, "$10.00" in result.out) == (0, True, True)


def test_an_estimate_of_nothing_says_so_and_one_without_history_says_unknown(queue: Thresher):
    assert "Nothing waits." in queue("costs", "--estimate").out
    added(queue, "free")
    shown = queue("costs", "--estimate")
    assert (shown.code, "unknown" in shown.out) == (0, True)
    assert queue("costs", "--estimate", "--json").json == [
        {"kind": "free", "waiting": 1, "ended": 0, "each": None, "total": None}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--by", "colour"), "day, app, model, prompt, kind, subject, run, task"),
        (("--since", "soon"), "90s, 10m, 2h or 1d"),
        (("--limit", "0"), "limit"),
    ],
)
def test_a_bad_value_is_answered_with_what_is_wanted(queue: Thresher, words: tuple[str, ...], said: str):
    result = queue("costs", *words)
    assert (result.code, said in result.err) == (2, True)

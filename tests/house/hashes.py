"""Write hashes.txt, what `make run` installs, hashes-test.txt, what `make setup` installs besides, and
deploy/hashes.txt, what the image has besides and is built with: each package with the SHA-256 of every wheel
of its release.

`python -m tests.house.hashes` asks the index that pip is set up with, whichever that is. pip has no public
way to ask for the hashes of files that it does not download, so this uses its inner parts; it is run by hand
when a pin in constraints.txt changes, and by nobody else.
"""

import contextlib
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.paper import ROOT

CORE, TEST, IMAGE = ROOT / "hashes.txt", ROOT / "hashes-test.txt", ROOT / "deploy" / "hashes.txt"
HEAD = "# Written by python -m tests.house.hashes: every wheel of each release, for all platforms. See docs/decisions.\n"
# A package is listed if each of these needs it; what only some need is left to constraints.txt.
PLATFORMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_ENTRY = re.compile(r"^(\S+)==(\S+) \\$|^    --hash=sha256:([0-9a-f]{64})(?: \\)?$")


def listed(file: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes of each package in a file."""
    found: dict[str, tuple[str, set[str]]] = {}
    name = ""
    for line in file.read_text("utf-8").splitlines():
        if match := _ENTRY.match(line):
            if match[1]:
                name = match[1]
                found[name] = (match[2], set())
            else:
                found[name][1].add(match[3])
        elif line and not line.startswith("#"):
            raise ValueError(f"{file.name}: {line}")
    return {name: (version, frozenset(hashes)) for name, (version, hashes) in found.items()}


def needed() -> dict[Path, set[str]]:
    """What each file lists: the packages that thresher needs on every platform and Python, those that
    thresher[test] needs besides, and those that the image has besides.
    """
    core = set.intersection(*_everywhere("thresher"))
    return {
        CORE: core,
        TEST: set.intersection(*_everywhere("thresher[test]")) - core,
        IMAGE: set.intersection(*_everywhere("thresher[postgres]")) - core | {"setuptools"},
    }


def core() -> set[str]:
    """The packages that thresher without extras needs on any platform and Python."""
    return set.union(*_everywhere("thresher"))


def _everywhere(root: str) -> list[set[str]]:
    return [
        _closure(root, _environment(*platform, python)) - {"thresher"}
        for platform in PLATFORMS
        for python in PYTHONS
    ]


def _environment(platform: str, system: str, name: str, python: str) -> dict[str, str]:
    machine = "AMD64" if platform == "win32" else "x86_64"
    return {
        "sys_platform": platform,
        "platform_system": system,
        "os_name": name,
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


def _closure(root: str, environment: Mapping[str, str]) -> set[str]:
    todo, seen = [Requirement(root)], set[tuple[str, str]]()
    while todo:
        each = todo.pop()
        for extra in ("", *each.extras):
            key = (canonicalize_name(each.name), extra)
            if key not in seen:
                seen.add(key)
                todo += _asked(each.name, extra, environment)
    return {name for name, _ in seen}


def _asked(name: str, extra: str, environment: Mapping[str, str]) -> list[Requirement]:
    try:
        lines = _ours(extra) if name == "thresher" else requires(name) or []
    except PackageNotFoundError:
        return []
    found = map(Requirement, lines)
    return [
        each for each in found if not each.marker or each.marker.evaluate({**environment, "extra": extra})
    ]


def _ours(extra: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return list(project["optional-dependencies"][extra] if extra else project["dependencies"])


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {
        canonicalize_name(name): version
        for name, _, version in (line.strip().partition("==") for line in lines)
        if version
    }


@contextlib.contextmanager
def index() -> Iterator[object]:
    """pip's own way to the pages of the index."""
    from pip._internal.commands import create_command  # noqa: PLC0415  only here, and slow

    command = create_command("download")
    options, _ = command.parse_args(["-"])
    with command.main_context():
        session = command._build_session(options)  # type: ignore[attr-defined]
        yield command._build_package_finder(options, session)._link_collector  # type: ignore[attr-defined]


def hashes_of(collector: object, name: str, version: str) -> set[str]:
    from pip._internal.index.collector import parse_links  # noqa: PLC0415
    from pip._internal.models.link import Link  # noqa: PLC0415

    found: set[str] = set()
    for place in collector.search_scope.get_index_urls_locations(name):  # type: ignore[attr-defined]
        if place.startswith("file:"):  # what somebody keeps on this machine is no release
            continue
        page = collector.fetch_response(Link(place))  # type: ignore[attr-defined]
        if page is not None:
            found |= {
                link.hash
                for link in parse_links(page)
                if link.hash_name == "sha256" and _is_of(link.filename, name, version)
            }
    return found


def _is_of(filename: str, name: str, version: str) -> bool:
    """Whether a wheel is of this release. What has to be built is not listed: building runs code."""
    parts = filename.removesuffix(".whl").split("-")
    return filename.endswith(".whl") and canonicalize_name(parts[0]) == name and parts[1] == version


def main() -> int:
    versions = pins()
    with index() as collector:
        for file, wanted in needed().items():
            found = {name: hashes_of(collector, name, versions[name]) for name in sorted(wanted)}
            write(file, {name: (versions[name], digests) for name, digests in found.items() if digests})
            missing = [name for name, digests in found.items() if not digests]
            print(f"wrote {file.name}; without a wheel: {', '.join(missing) or 'none'}")
    return 0


def write(file: Path, packages: Mapping[str, tuple[str, Iterable[str]]]) -> None:
    lines = [HEAD]
    for name, (version, digests) in packages.items():
        each = " \\\n".join(f"    --hash=sha256:{digest}" for digest in sorted(digests))
        lines.append(f"{name}=={version} \\\n{each}\n")
    file.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())

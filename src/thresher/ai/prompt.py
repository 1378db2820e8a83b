"""Prompts: what a model is told, as files with a name and a version. Apps bring their own, and a project may
override any.

The header of a file is small and parsed strictly. A typing error there would change which model is asked, or
let a changed prompt reuse the answers of an older one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from thresher.config.models import TIERS
from thresher.core.app import App
from thresher.core.errors import ConfigError, UnknownName
from thresher.core.named import load_folder

KEYS = ("name", "sentence", "tier", "version")
MAX_CHARACTERS = 50_000

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_EDGE = "---\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` is what the model reads, `tier` who is asked unless the caller says otherwise, `sentence` what
    it is for.
    """

    name: str
    version: int
    tier: str
    sentence: str
    text: str

    @property
    def label(self) -> str:
        """As people and the ledger call it."""
        return f"{self.name}@{self.version}"

    @property
    def identity(self) -> str:
        """Changes with every edit, even of somebody who forgot to raise the version."""
        return f"{self.label}:{sha256(self.text.encode()).hexdigest()}"


def read_prompt(content: str, *, name: str, place: str) -> Prompt:
    """The prompt in a file's content. `name` is the file's, `place` is what an error calls it."""
    if len(content) > MAX_CHARACTERS:
        raise ConfigError(
            f"{place} has {len(content):,} characters; the limit for a prompt is {MAX_CHARACTERS:,}"
        )
    head, text = _halves(content, place)
    for key in head:
        if key not in KEYS:
            raise ConfigError(f"{place}: {key!r} is not a known key; the keys are {', '.join(KEYS)}")
    if not _NAME.fullmatch(name) or head.get("name") != name:
        raise ConfigError(
            f"{place}: name must be the name of its file in a-z, 0-9 and _: {name!r}; got "
            f"{head.get('name')!r}"
        )
    if not text:
        raise ConfigError(f"{place} has no text below its second ---; write there what the model should do")
    return Prompt(name, _version(head, place), _tier(head, place), _sentence(head, place), text)


def _halves(content: str, place: str) -> tuple[dict[Any, Any], str]:
    opening, found, rest = content.partition(_EDGE)
    written, closed, text = rest.partition("\n" + _EDGE)
    if opening or not found or not closed:
        raise ConfigError(
            f"{place} must begin with {', '.join(KEYS)} between two lines ---, with its text below them"
        )
    try:
        head = yaml.safe_load(written)
    except yaml.YAMLError as problem:
        raise ConfigError(
            f"{place}: the part above its text is not YAML ({str(problem).splitlines()[0]})"
        ) from None
    if not isinstance(head, dict):
        raise ConfigError(f"{place} must have {', '.join(KEYS)} above its text, got {head!r}")
    return head, text.strip()


def _version(head: dict[Any, Any], place: str) -> int:
    version = head.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ConfigError(f"{place}: version must be a whole number from 1, got {version!r}")
    return version


def _tier(head: dict[Any, Any], place: str) -> str:
    tier = head.get("tier")
    if tier not in TIERS:
        raise ConfigError(f"{place}: tier must be one of {', '.join(TIERS)}, got {tier!r}")
    return str(tier)


def _sentence(head: dict[Any, Any], place: str) -> str:
    sentence = head.get("sentence")
    if not isinstance(sentence, str) or not sentence.strip():
        raise ConfigError(
            f"{place}: sentence must be one sentence that says what the prompt is for, got {sentence!r}"
        )
    return sentence.strip()


OURS = "thresher.ai:prompts"
MAX_PROMPTS = 500
# The frame keeps quoted page text from being taken for instructions. A project cannot override it by
# accident.
OURS_ALONE = frozenset({"frame"})


class Library:
    """The prompts of the package and of the apps, and over them those in `folder`, read once."""

    def __init__(self, folder: Path | None = None, apps: Iterable[App] = ()) -> None:
        self._prompts = {prompt.name: prompt for prompt in _brought(OURS, "thresher")}
        owners = dict.fromkeys(self._prompts, "Thresher itself")
        for app in apps:
            for prompt in _brought(app.prompts, f"app {app.name!r}") if app.prompts else ():
                if other := owners.get(prompt.name):
                    raise ConfigError(
                        f"the prompt {prompt.name!r} is brought by app {app.name!r} and by {other}; rename it in the app"
                    )
                owners[prompt.name], self._prompts[prompt.name] = f"app {app.name!r}", prompt
        if folder is not None:
            self._prompts |= {prompt.name: prompt for prompt in _of(folder)}

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise UnknownName(
                f"there is no prompt {name!r}; the prompts are {', '.join(sorted(self._prompts))}. "
                f"Or write prompts/{name}.md"
            )
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        return (self._prompts[name] for name in sorted(self._prompts))


def _brought(where: str | Path, owner: str) -> Iterator[Prompt]:
    """The prompts in a folder that the package or an app brings."""
    folder = load_folder(where, "prompts")
    if not folder.is_dir():
        raise ConfigError(f"prompts of {owner} is {str(where)!r}, which is not a folder")
    for file in folder.iterdir():
        if file.name.endswith(".md"):
            yield read_prompt(
                file.read_text("utf-8"),
                name=file.name.removesuffix(".md"),
                place=f"prompts/{file.name} of {owner}",
            )


def _of(folder: Path) -> Iterator[Prompt]:
    paths = sorted(folder.glob("*.md"))
    if len(paths) > MAX_PROMPTS:
        raise ConfigError(f"{folder} has {len(paths)} prompts; the limit is {MAX_PROMPTS}")
    for path in paths:
        if path.stem in OURS_ALONE:
            raise ConfigError(
                f"{path}: {path.stem} is how Thresher quotes pages to a model and cannot be replaced; give it another name"
            )
        yield read_prompt(_content(path), name=path.stem, place=str(path))


def _content(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_CHARACTERS + 1)
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8; save it as UTF-8") from None
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read: {problem.strerror}") from None

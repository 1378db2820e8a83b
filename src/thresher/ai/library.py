"""All prompts by name: ours, and over them those of the project, so that words can be changed without
changing code.
"""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from thresher.ai.prompt import MAX_CHARACTERS, Prompt, read_prompt
from thresher.core.errors import ConfigError, UnknownName

MAX_PROMPTS = 500
# How pages are quoted is what keeps their words from being taken for ours. No project replaces it by
# accident.
OURS_ALONE = frozenset({"frame"})


class Library:
    """The prompts of the package, and over them those in `folder`, read once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._prompts = {prompt.name: prompt for prompt in _ours()}
        if folder is not None:
            self._prompts |= {prompt.name: prompt for prompt in _of(folder)}

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise UnknownName(
                f"there is no prompt {name!r}; there are {', '.join(sorted(self._prompts))}, or write prompts/{name}.md"
            )
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        return (self._prompts[name] for name in sorted(self._prompts))


def _ours() -> Iterator[Prompt]:
    for file in files("thresher.ai").joinpath("prompts").iterdir():
        if file.name.endswith(".md"):
            yield read_prompt(
                file.read_text("utf-8"),
                name=file.name.removesuffix(".md"),
                place=f"prompts/{file.name} of thresher",
            )


def _of(folder: Path) -> Iterator[Prompt]:
    paths = sorted(folder.glob("*.md"))
    if len(paths) > MAX_PROMPTS:
        raise ConfigError(f"{folder} has {len(paths)} prompts, at most {MAX_PROMPTS} are read")
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

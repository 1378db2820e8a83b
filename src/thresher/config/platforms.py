"""The hiring platforms of a project's own: `platforms/*.yaml` beside `thresher.yaml`."""

from pathlib import Path

from thresher.core.errors import ConfigError
from thresher.reading.platforms.platform import read_platforms, use_platforms

FOLDER = "platforms"
Texts = tuple[tuple[str, str], ...]  # (name, text) of each file
_installed: list[Texts] = [()]


def install_platforms(project: Path) -> None:
    """Let them count in this process, before those that come with us. Raises ConfigError that names file,
    line and key.
    """
    files = sorted((project / FOLDER).glob("*.yaml"))
    use_texts(tuple((f"{FOLDER}/{file.name}", _text(file)) for file in files))


def use_texts(texts: Texts) -> None:
    """The same from texts that were read before, perhaps by another process."""
    use_platforms(read_platforms(texts))
    _installed[0] = texts


def installed_platforms() -> Texts:
    """What was installed last: another process that reads pages for this one needs the same."""
    return _installed[0]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{FOLDER}/{file.name} cannot be read: {problem}") from None

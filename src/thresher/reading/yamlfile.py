"""YAML of our own package, read by the fast parser where there is one: some thirty small files stand between a start and a first answer."""

from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """What the text holds. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=_LOADER)  # noqa: S506  both of them are safe loaders

"""A YAML file that a person wrote, read and checked: every mistake is named with its file, its line, its key
and what is wanted there.

    read_checked(text, "acme.yaml", _platform)     the function takes the data, and calls `wrong` for mistakes
"""

import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import yaml

from thresher.core.errors import ConfigError
from thresher.reading.structured.yaml_file import line_of, read_foreign_yaml

MAX_TEXT = 200_000  # characters of one file

Path = tuple[str | int, ...]
Made = TypeVar("Made")


class Mistake(Exception):
    """Something is wrong at a place of the file."""

    def __init__(self, path: Path, advice: str) -> None:
        self.path, self.advice = path, advice


def read_checked(text: str, file: str, make: Callable[[Any], Made]) -> Made:
    """What `make` makes of the data in a text. Raises ConfigError for the first mistake."""
    if len(text) > MAX_TEXT:
        raise ConfigError(f"{file} is longer than {MAX_TEXT:,} characters; such a file is a page or two")
    try:
        data = read_foreign_yaml(text)
    except yaml.YAMLError as problem:
        raise ConfigError(f"{file}: not YAML: {problem}") from None
    try:
        return make(data)
    except Mistake as mistake:
        line = line_of(text, mistake.path)
        place = f"{file}, line {line}" if line else file
        raise ConfigError(": ".join(filter(None, (place, written(mistake.path), mistake.advice)))) from None


def wrong(path: Path, advice: str) -> NoReturn:
    raise Mistake(path, advice)


def mapping_of(data: Any, keys: tuple[str, ...], path: Path) -> dict[str, Any]:
    """A mapping with none but these keys."""
    if not isinstance(data, dict):
        wrong(path, f"{shown(data)} is not a mapping; the keys are {', '.join(sorted(keys))}")
    for key in data:
        if key not in keys:
            wrong((*path, key), f"{key} is not a known key; the keys are {', '.join(sorted(keys))}")
    return data


def list_at(data: Mapping[str, Any], key: str, path: Path = ()) -> list[Any]:
    found = data.get(key, [])
    if not isinstance(found, list):
        wrong((*path, key), f"{shown(found)} is not a list; write [one, another]")
    return found


def text_at(data: Mapping[str, Any], key: str, path: Path = ()) -> str | None:
    found = data.get(key)
    if found is not None and not isinstance(found, str):
        wrong((*path, key), f"{shown(found)} is not text; write it in quotes")
    return found


def texts_at(data: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    found = data.get(key, {})
    if not isinstance(found, dict) or not all(
        isinstance(each, str) for pair in found.items() for each in pair
    ):
        wrong((*path, key), f"{shown(found)} is not a mapping of text; write {{accept: application/json}}")
    return found


def number_at(data: Mapping[str, Any], key: str, path: Path, least: int = 1) -> int | None:
    found = data.get(key)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool) or found < least):
        wrong((*path, key), f"{shown(found)} is wrong; write a whole number from {least} on")
    return found


def flag_at(data: Mapping[str, Any], key: str, default: bool, path: Path) -> bool:
    found = data.get(key, default)
    if not isinstance(found, bool):
        wrong((*path, key), f"{shown(found)} is wrong; write true or false")
    return found


def choice_at(data: Mapping[str, Any], key: str, choices: tuple[str, ...], default: str, path: Path) -> str:
    found = data.get(key, default)
    if found not in choices:
        wrong((*path, key), f"{key} is {shown(found)}; write one of {', '.join(choices)}")
    return str(found)


def pattern_of(text: Any, path: Path) -> re.Pattern[str]:
    try:
        return re.compile(str(text))
    except re.error as problem:
        wrong(path, f"{shown(text)} is not a regular expression: {problem}")


def shown(value: Any) -> str:
    """What is written, shortened."""
    return reprlib.repr(value)


def written(path: Path) -> str:
    """A place as one would write it: `answers[0].fields.title`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")

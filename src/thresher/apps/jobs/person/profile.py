"""Parse a profile from YAML, strictly: a typing error would silently filter the wrong openings.

Values are read as strings and only then as numbers, booleans and lists: plain YAML reads the country NO and
the region ON as false and true.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import yaml

from thresher.apps.jobs.filtering.phrase import pattern_problem
from thresher.apps.jobs.person.wants import (
    STOPS,
    Levels,
    Notify,
    Profile,
    Rank,
    Salary,
    Size,
    Skill,
    Stops,
    Workplaces,
    as_json,
)
from thresher.core.errors import ConfigError
from thresher.hiring.skills import known_as

__all__ = ["KEYS", "Profile", "Rank", "Skill", "as_json", "profile_of", "read_profile"]

KEYS = (
    "city",
    "country",
    "excluded",
    "experience",
    "levels",
    "notify",
    "region",
    "salary",
    "size",
    "skills",
    "timezone",
    "titles",
    "workplace",
)
WORKPLACE_KEYS = ("hybrid_in", "onsite", "onsite_in", "remote")
SALARY_KEYS = ("currency", "floor", "target")
LEVEL_KEYS = ("excluded", "unwanted", "wanted")
SKILL_KEYS = ("rank", "years")
MAX_CHARACTERS = 100_000
MAX_VALUES = 500
MAX_LENGTH = 200
MAX_MONEY = 1_000_000_000
MAX_YEARS = 60
MAX_POINTS = 100

DEEPEST = 10  # levels

_OPENING = (
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
)
_CLOSING = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
_COUNTRY = re.compile(r"[A-Z]{2}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[,_][0-9]{3}){1,3}|[0-9]{1,10})(k?)")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_NOTHING = {"", "~", "null"}

Problem = Callable[[str, str], ConfigError]
T = TypeVar("T")
S = TypeVar("S", bound=StrEnum)


def read_profile(text: str, name: str) -> Profile:
    """The profile in a text. Errors name `name` (a file), the line, the key, what it got and what it
    wants.
    """
    root = _composed(text, name)
    lines: dict[str, int] = {}

    def problem(key: str, says: str) -> ConfigError:
        return ConfigError(f"{name}:{_line(lines, key)}: {key} {says}")

    profile = _profile(None if root is None else _plain(root, "", lines, problem), problem)
    # Only what is set now is refused: a profile that was stored before must still be read.
    for word in profile.excluded.keywords:
        if wrong := pattern_problem(word):
            raise problem("excluded.keywords", f"has {_shown(word)}, which {wrong}")
    return profile


def profile_of(data: Mapping[str, Any]) -> Profile:
    """The way back from `as_json`, as strict as reading."""
    return _profile(dict(data), lambda key, says: ConfigError(f"profile: {key} {says}"))


def _line(lines: Mapping[str, int], key: str) -> int:
    """Where a key stands; one that does not is missing in what is above it."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key, 1)


def _composed(text: str, name: str) -> yaml.Node | None:
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(
            f"{name} has {len(text):,} characters; the limit for a profile is {MAX_CHARACTERS:,}"
        )
    try:
        _scan(text, name)
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        said = " ".join(str(getattr(wrong, "problem", None) or wrong).split())
        raise ConfigError(f"{name}{where} is not YAML: {said}") from None
    return root


def _scan(text: str, name: str) -> None:
    """Refuse what a profile never has, before it is built: that would take time without end."""
    depth = 0
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        if isinstance(token, yaml.AliasToken):
            raise ConfigError(
                f"{name}:{token.start_mark.line + 1} has *{token.value}; a profile may not use "
                f"aliases; write the value out, or in quotes if the star is meant: '*{token.value}'"
            )
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > DEEPEST:
            raise ConfigError(f"{name} is nested too deeply for a profile")


def _plain(node: yaml.Node, key: str, lines: dict[str, int], problem: Problem) -> Any:
    """Texts, lists and mappings; the line of every key is noted on the way. It was composed, so it is not too
    deep for this either.
    """
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and node.value.lower() in _NOTHING else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(each, key, lines, problem) for each in node.value]
    found: dict[str, Any] = {}
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise problem(key or "profile", "has a key that is a list or a mapping; keys must be words")
        path = f"{key}.{name.value}" if key else name.value
        lines[path] = name.start_mark.line + 1
        if name.value in found:
            raise problem(path, "appears twice; keep one")
        found[name.value] = _plain(value, path, lines, problem)
    return found


def _profile(given: Any, problem: Problem) -> Profile:
    data = _block(given, "", KEYS, problem)
    usual = Profile()
    return Profile(
        city=_text(data, "city", problem),
        region=_upper(_text(data, "region", problem)),
        country=_coded(data, "country", _COUNTRY, "a country of two letters such as US", problem),
        timezone=_zone(_text(data, "timezone", problem), problem),
        titles=_texts(data, "titles", usual.titles, problem),
        skills=_skills(data.get("skills"), usual.skills, problem),
        workplace=_workplace(data.get("workplace"), problem),
        salary=_salary(data.get("salary"), problem),
        experience=_count(data, "experience", usual.experience, MAX_YEARS, "years", problem),
        levels=_levels(data.get("levels"), problem),
        excluded=_stops(data.get("excluded"), problem),
        size=_choice(data, "size", Size, None, problem),
        notify=_choice(data, "notify", Notify, usual.notify, problem) or Notify.HIGH,
    )


def _block(given: Any, where: str, keys: tuple[str, ...], problem: Problem) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise problem(
            where or "profile", f"must be a mapping with the keys {', '.join(keys)}, got {_shown(given)}"
        )
    for key in given:
        if key not in keys:
            raise problem(
                f"{where}.{key}" if where else str(key)[:MAX_LENGTH],
                f"is not a known key; the keys are {', '.join(keys)}",
            )
    # The whole name goes with each value, so that every error can say it.
    return {f"{where}.{key}" if where else key: value for key, value in given.items()}


def _workplace(given: Any, problem: Problem) -> Workplaces:
    data = _block(given, "workplace", WORKPLACE_KEYS, problem)
    hybrid = (
        None if data.get("workplace.hybrid_in") is None else _texts(data, "workplace.hybrid_in", (), problem)
    )
    return Workplaces(
        _truth(data, "workplace.remote", True, problem),
        hybrid,
        _truth(data, "workplace.onsite", False, problem),
        _texts(data, "workplace.onsite_in", (), problem),
    )


def _salary(given: Any, problem: Problem) -> Salary:
    data, usual = _block(given, "salary", SALARY_KEYS, problem), Salary()
    floor = _count(data, "salary.floor", None, MAX_MONEY, "a year", problem)
    target = _count(data, "salary.target", None, MAX_MONEY, "a year", problem)
    if floor is not None and target is not None and target < floor:
        raise problem("salary.target", f"must be at least the floor ({floor:,}), got {target:,}")
    # Whoever names only one of the two means the other no stricter than that.
    least = floor if floor is not None else min(usual.floor, usual.floor if target is None else target)
    aim = target if target is not None else max(usual.target, least)
    currency = _coded(data, "salary.currency", _CURRENCY, "a currency of three letters such as USD", problem)
    return Salary(least, aim, currency or usual.currency)


def _levels(given: Any, problem: Problem) -> Levels:
    data, usual = _block(given, "levels", LEVEL_KEYS, problem), Levels()
    return Levels(
        _texts(data, "levels.wanted", usual.wanted, problem),
        _unwanted(data.get("levels.unwanted"), usual.unwanted, problem),
        _texts(data, "levels.excluded", usual.excluded, problem),
    )


def _unwanted(given: Any, usual: Mapping[str, int | None], problem: Problem) -> Mapping[str, int | None]:
    if given is None:
        return usual
    if isinstance(given, list):
        return dict.fromkeys(_texts({"levels.unwanted": given}, "levels.unwanted", (), problem))
    named = _named(
        given,
        "levels.unwanted",
        "must map words to points, such as principal: 1, or be a list of words",
        problem,
    )
    return {word: _points(value, f"levels.unwanted.{word}", problem) for word, value in named}


def _points(value: Any, key: str, problem: Problem) -> int | None:
    return None if value is None else _count({key: value}, key, 0, MAX_POINTS, "points", problem)


def _stops(given: Any, problem: Problem) -> Stops:
    data, usual = _block(given, "excluded", STOPS, problem), Stops()
    return Stops(**{name: _texts(data, f"excluded.{name}", getattr(usual, name), problem) for name in STOPS})


def _skills(given: Any, usual: Mapping[str, Skill], problem: Problem) -> Mapping[str, Skill]:
    if given is None:
        return usual
    named = _named(given, "skills", "must map skills to a rank, such as python: required", problem)
    found: dict[str, Skill] = {}
    for word, value in named:
        name = known_as(word)
        if name in found:
            raise problem(f"skills.{word}", f"appears twice, under another name for {name}; keep one")
        found[name] = _skill(value, f"skills.{word}", problem)
    return found


def _skill(value: Any, key: str, problem: Problem) -> Skill:
    data = _block(value, key, SKILL_KEYS, problem) if isinstance(value, dict) else {f"{key}.rank": value}
    where = f"{key}.rank" if isinstance(value, dict) else key
    rank = _choice({where: data.get(f"{key}.rank")}, where, Rank, None, problem)
    if rank is None:
        raise problem(where, f"must be one of {', '.join(Rank)}, got nothing")
    return Skill(rank, _count(data, f"{key}.years", None, MAX_YEARS, "years", problem))


def _named(given: Any, key: str, wants: str, problem: Problem) -> Iterator[tuple[str, Any]]:
    if not isinstance(given, dict) or len(given) > MAX_VALUES:
        got = (
            f"has {len(given):,} entries; the limit is {MAX_VALUES:,}"
            if isinstance(given, dict)
            else _shown(given)
        )
        raise problem(key, f"{wants}, got {got}")
    return ((_word(name, key, problem), value) for name, value in given.items())


def _text(data: Mapping[str, Any], key: str, problem: Problem) -> str | None:
    value = data.get(key)
    return None if value is None else _word(value, key, problem)


def _word(value: Any, key: str, problem: Problem) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise problem(key, f"must be text, got {_shown(value)}")
    text = " ".join(str(value).split())
    if not any(char.isalnum() for char in text) or len(text) > MAX_LENGTH:
        raise problem(
            key,
            f"must be text with a letter or a digit and at most {MAX_LENGTH} characters, got {_shown(value)}",
        )
    if not text.isprintable():
        raise problem(key, f"must be readable text, got {ascii(text)[:MAX_LENGTH]}")
    return text


def _texts(data: Mapping[str, Any], key: str, usual: tuple[str, ...], problem: Problem) -> tuple[str, ...]:
    value = data.get(key)
    if value is None:
        return usual
    if not isinstance(value, list) or len(value) > MAX_VALUES:
        got = f"{len(value):,} of them" if isinstance(value, list) else _shown(value)
        raise problem(key, f"must be a list of at most {MAX_VALUES} texts, such as [one, two], got {got}")
    return tuple(dict.fromkeys(_word(each, key, problem) for each in value))


def _truth(data: Mapping[str, Any], key: str, usual: bool, problem: Problem) -> bool:
    value = data.get(key)
    if value is None or isinstance(value, bool):
        return usual if value is None else value
    if not isinstance(value, str) or value.lower() not in _TRUTHS:
        raise problem(key, f"must be yes or no, got {_shown(value)}")
    return _TRUTHS[value.lower()]


def _count(data: Mapping[str, Any], key: str, usual: T, most: int, unit: str, problem: Problem) -> int | T:
    """A whole number, also as people write them: 150,000 or 150k."""
    value = data.get(key)
    if value is None:
        return usual
    match = (
        _AMOUNT.fullmatch(str(value).lower())
        if isinstance(value, str | int) and not isinstance(value, bool)
        else None
    )
    number = int(re.sub(r"[,_]", "", match[1])) * (1_000 if match[2] else 1) if match else -1
    if not 0 <= number <= most:
        raise problem(key, f"must be a whole number from 0 to {most:,} ({unit}), got {_shown(value)}")
    return number


def _coded(
    data: Mapping[str, Any], key: str, shape: re.Pattern[str], wants: str, problem: Problem
) -> str | None:
    code = _upper(_text(data, key, problem))
    if code is not None and not shape.fullmatch(code):
        raise problem(key, f"must be {wants}, got {_shown(data[key])}")
    return code


def _upper(text: str | None) -> str | None:
    return text.upper() if text is not None and len(text) <= 3 else text


def _choice(
    data: Mapping[str, Any], key: str, choices: type[S], usual: S | None, problem: Problem
) -> S | None:
    value = data.get(key)
    if value is None:
        return usual
    if not isinstance(value, str) or value.lower() not in {*choices}:
        raise problem(key, f"must be one of {', '.join(choices)}, got {_shown(value)}")
    return choices(value.lower())


def _zone(name: str | None, problem: Problem) -> str | None:
    if name is None:
        return None
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not found; not a name; a folder
        raise problem(
            "timezone", f"must be a time zone such as America/Los_Angeles, got {_shown(name)}"
        ) from None
    return name


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"

"""Parse candidates: a row of a file or a body of the API, each field checked, with an error that names it.

A file is CSV with a header or JSON lines. Every line is parsed before anything is stored.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from thresher.admin.file_rows import lines_of, read_objects, read_rows
from thresher.apps.roles.model import Candidate, CandidateRecord, WantedTitle
from thresher.core.errors import UsageError
from thresher.core.record import clean

TEXTS = ("id", "email", "name", "title", "currency")
LISTS = ("roles", "skills", "tech_stack", "specializations", "locations")
COLUMNS = (
    "id",
    "email",
    "name",
    "title",
    "roles",
    "skills",
    "tech_stack",
    "specializations",
    "experience_years",
    "locations",
    "salary_min",
    "currency",
    "remote",
)
SEPARATOR = ";"
COMMAS = ("skills", "tech_stack")  # lists that may have commas instead
MAX_TEXT = 200
MAX_ITEMS = 200
MAX_ROLES = 20
MAX_YEARS = 80
MAX_SALARY = 1_000_000_000_000
MAX_ID = 10**18
_YES, _NO = frozenset({"yes", "y", "true", "1"}), frozenset({"no", "n", "false", "0"})
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:[,_' ][0-9]{3}){1,4}")
_COMMA = re.compile(r"[0-9]{1,2},[0-9]{1,2}")  # as half of Europe writes seven years and a half
_PLAIN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,6})?")


class By(StrEnum):
    """What says who a candidate is, the surest first."""

    ID = "id"
    EMAIL = "email"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Given:
    """A candidate that somebody names, the address by which they are reached, and what of it says who it
    is.
    """

    candidate: Candidate
    email: str | None = None
    by: By = By.ID

    @property
    def key(self) -> str:
        return self.candidate.key

    def under(self, key: str) -> "Given":
        """The same, known by this key."""
        return replace(self, candidate=replace(self.candidate, key=clean(key)), by=By.ID)

    def record(
        self, titles: tuple[WantedTitle, ...] = (), unknown: Mapping[str, Any] | None = None
    ) -> CandidateRecord:
        """Their record, with how their titles were understood, and what a newer release knows of them."""
        return CandidateRecord.made(
            self.candidate,
            email=self.email,
            name_key=person_name_key(self.candidate.name),
            titles=titles,
            unknown=unknown or {},
        )


def read_candidate(fields: Mapping[str, Any]) -> Given:
    """A candidate from fields as they were written: texts, or the types that JSON has. Raises
    `UsageError`.
    """
    for field in fields:
        if field not in COLUMNS:
            raise UsageError(f"there is no field {str(field)[:60]!r}; a candidate has {', '.join(COLUMNS)}")
    texts = {name: _text(name, fields.get(name)) for name in TEXTS}
    name, email = texts["name"], _email(texts["email"])
    if not name or not person_name_key(name):
        raise UsageError("a candidate needs a name")
    lists = {each: _list(each, fields.get(each)) for each in LISTS}
    keys = {By.ID: texts["id"], By.EMAIL: email, By.NAME: person_name_key(name)}
    by = next(each for each in By if keys[each])
    candidate = Candidate(
        keys[by],
        name,
        texts["title"],
        experience_years=_years(fields.get("experience_years")),
        salary_min=_salary(fields.get("salary_min")),
        currency=_currency(texts["currency"]),
        remote=_remote(fields.get("remote")),
        **lists,
    )
    return Given(candidate, email or None, by)


def person_name_key(name: str) -> str:
    """A person's name as it is compared: without case, accents and punctuation."""
    bare = name.lower() if name.isascii() else _without_accents(name)
    return " ".join("".join(char if char.isalnum() else " " for char in bare).split())


def _without_accents(name: str) -> str:
    return "".join(
        char for char in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(char)
    )


def _text(name: str, value: Any) -> str:
    """One line of text. A number is taken for what it looks like: an id is often one."""
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < MAX_ID:
        value = str(value)
    if not isinstance(value, str):
        raise UsageError(f"{name} must be text, got {_shown(value)}")
    if len(value) > 10 * MAX_TEXT:  # spaces at the ends may be many, and are not worth counting
        raise UsageError(f"{name} has {len(value):,} characters; the limit is {MAX_TEXT}")
    line = " ".join(clean(_whole(name, value)).split())
    if len(line) > MAX_TEXT:
        raise UsageError(f"{name} has {len(line):,} characters; the limit is {MAX_TEXT}")
    return line


def _whole(name: str, text: str) -> str:
    if not text.isprintable() and any(
        (char < " " and char not in "\t\n\r") or "\x7f" <= char < "\xa0" for char in text
    ):
        raise UsageError(f"{name} contains a control character: {text[:40]!r}; is the file text?")
    return text


def _list(name: str, value: Any) -> tuple[str, ...]:
    """Many of something: `a; b; c`, or a list. Each once, as it was written first."""
    if value is None:
        return ()
    most = MAX_ROLES if name == "roles" else MAX_ITEMS
    if not isinstance(value, str | list | tuple):
        raise UsageError(f"{name} must be text separated by {SEPARATOR}, or a list, got {_shown(value)}")
    if len(value) > most * (MAX_TEXT if isinstance(value, str) else 2):
        raise UsageError(f"{name} has {len(value):,} characters; at most {most} entries are allowed")
    parts = value.split(_separator(name, value)) if isinstance(value, str) else value
    items: dict[str, str] = {}
    for part in parts:
        if text := _text(name, part):
            items.setdefault(text.casefold(), text)
    if len(items) > most:
        raise UsageError(f"{name} has {len(items):,} entries; the limit is {most}")
    return tuple(items.values())


def _separator(name: str, text: str) -> str:
    """What stands between entries. Many write skills with commas, and a skill has none; a place has: Berlin,
    Germany.
    """
    return "," if name in COMMAS and SEPARATOR not in text and "(" not in text else SEPARATOR


def _email(text: str) -> str:
    name, at, host = text.rpartition("@")
    if text and not (name and at and host and " " not in text):
        raise UsageError(f"email must be an address such as anna@example.com, got {text[:60]!r}")
    return text.casefold()


def _currency(text: str) -> str | None:
    if text and not (len(text) == 3 and text.isascii() and text.isalpha()):
        raise UsageError(f"currency must be three letters such as USD, got {text[:20]!r}")
    return text.upper() or None


def _remote(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().casefold() if isinstance(value, str | int) else "?"
    if word and word not in _YES | _NO:
        raise UsageError(f"remote must be yes or no, or empty if it is not known; got {_shown(value)}")
    return word in _YES if word else None


def _years(value: Any) -> float | None:
    said = value.replace(",", ".") if isinstance(value, str) and _COMMA.fullmatch(value.strip()) else value
    found = _number("experience_years", said, "years such as 7 or 2.5")
    if found is not None and not 0 <= found <= MAX_YEARS:
        raise UsageError(f"experience_years must be between 0 and {MAX_YEARS}, got {found:g}")
    return int(found) if found is not None and found == int(found) else found


def _salary(value: Any) -> int | None:
    found = _number("salary_min", value, "a whole number per year, such as 85000")
    if found is None:
        return None
    if (
        not 0 <= found <= MAX_SALARY
        or found != int(found)
        or (isinstance(value, str) and "." in value and found < 1_000)
    ):
        # 85.000 is 85 to a computer and a good salary to half of Europe.
        raise UsageError(f"salary_min must be a whole number per year, such as 85000, got {_shown(value)}")
    return int(found)


def _number(name: str, value: Any, wanted: str) -> float | None:
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        digits = re.sub("[,_' ]", "", text) if len(text) < 30 and _THOUSANDS.fullmatch(text) else text
        value = float(digits) if _PLAIN.fullmatch(digits) else value
    if value is None or (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MAX_ID
    ):
        return value  # what is no number at all is not smaller than anything
    raise UsageError(f"{name} must be {wanted}, got {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:60])
    return (
        repr(value)
        if value is None or (isinstance(value, int | float) and abs(value) < MAX_ID)
        else f"a {type(value).__name__}"
    )


MAX_SLIPS = 20  # told one by one
OTHER_WORDS = {
    "specialisations": "specializations",
    "specialization": "specializations",
    "location": "locations",
    "role": "roles",
    "key": "id",  # as an export calls it
}
OURS = "keywords"  # a column of an export that is made of the others
EXAMPLE = '{"name": "Anna", "title": "Python Developer", "skills": ["Python"]}'


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that cannot be used, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """The candidates of a file, what in it could not be used, and the columns that were left out."""

    candidates: tuple[Given, ...]
    slips: tuple[Slip, ...]
    ignored: tuple[str, ...] = ()

    def whole(self, name: str) -> "Sheet":
        """The same, if every line of it can be used."""
        if self.slips:
            told = "; ".join(f"{name}:{slip.line}: {slip.why}" for slip in self.slips[:MAX_SLIPS])
            more = f"; and {len(self.slips) - MAX_SLIPS:,} more lines" if len(self.slips) > MAX_SLIPS else ""
            raise UsageError(
                f"{told}{more}. Nothing was added; fix the file, or use --skip-bad to add the other lines."
            )
        return self


def read_sheet(text: str, name: str, *, ignore_unknown: bool = False) -> Sheet:
    """The candidates of a file. Its name or its first line says what it is. With `ignore_unknown`, columns
    and fields that a candidate does not have are left out, and named in the sheet.
    """
    lines = lines_of(text, name)
    first = next(line for line in lines if line.strip()).lstrip()
    is_json = name.lower().endswith((".jsonl", ".ndjson", ".json")) or first.startswith(("{", "["))
    candidates: list[Given] = []
    slips: list[Slip] = []
    seen: dict[str, int] = {}
    ignored: list[str] | None = [] if ignore_unknown else None
    for line, fields in read_objects(lines, EXAMPLE) if is_json else _rows(lines, name, ignored):
        found = fields if isinstance(fields, str) else _read(_known(fields, ignored))
        slip = found if isinstance(found, str) else _again(found, seen, line)
        if slip:
            slips.append(Slip(line, slip))
        elif isinstance(found, Given):
            candidates.append(found)
    return Sheet(tuple(candidates), tuple(slips), tuple(dict.fromkeys(ignored or ())))


def _known(fields: Mapping[str, Any], ignored: list[str] | None) -> Mapping[str, Any]:
    if ignored is None or not (unknown := [field for field in fields if field not in COLUMNS]):
        return fields
    ignored += [each for each in unknown if each not in ignored]
    return {field: value for field, value in fields.items() if field in COLUMNS}


def _rows(
    lines: Sequence[str], name: str, ignored: list[str] | None
) -> Iterator[tuple[int, Mapping[str, str] | str]]:
    for line, cells in read_rows(lines, name, (*COLUMNS, OURS), OTHER_WORDS, ignored):
        yield (
            line,
            cells
            if isinstance(cells, str)
            else {column: cell for column, cell in cells.items() if column != OURS},
        )


def _read(fields: Mapping[str, Any]) -> Given | str:
    try:
        return read_candidate(fields)
    except UsageError as problem:
        return str(problem)


def _again(found: Given, seen: dict[str, int], line: int) -> str | None:
    """Say why a second line with the same key or email cannot be used: it is unclear which one is meant."""
    for word in {found.key: None, found.email or found.key: None}:
        first = seen.setdefault(word, line)
        if first != line and found.by is By.NAME:
            return (
                f"{found.candidate.name!r} is also in line {first}; if they are two people, give each an "
                "id or an email"
            )
        if first != line:
            return f"{word!r} is also in line {first}; keep one of the two"
    return None

"""What a title is called, as somebody would say it who has read many: without rank and place, abbreviations
written out.

The practice model answers from here when it is asked under which name some work is looked for. It knows what
the practice web knows, and a few trades more; where it knows nothing it repeats what it was told, as a
careful reader does.
"""

import json
import re
from collections.abc import Mapping, Sequence

from thresher.practice.web.answer import Json
from thresher.practice.web.words import DEPARTMENTS, LEVELS

MAX_TITLE = 300
MAX_WORDS = 3

_TITLE = re.compile(r"(?m)^title: ([^\n]{1,2000})$")
_KNOWN = re.compile(r"(?m)^known_roles: (\[[^\n]{0,20000})$")
_ASIDE = re.compile(r"[(\[|,;:]| [-–—/] ")
_WORD = re.compile(r"[\w.+#&'-]{1,60}")
_RANKS = frozenset(
    {"sr", "jr", "mid", "entry", "level", "intern", "trainee", *(level.strip().lower() for level in LEVELS)}
)
_NUMERALS = frozenset({"i", "ii", "iii", "iv", "v"})
_WHOLE = {
    "dev": "Developer",
    "devs": "Developer",
    "eng": "Engineer",
    "engr": "Engineer",
    "mgr": "Manager",
    "admin": "Administrator",
    "rep": "Representative",
    "coord": "Coordinator",
    "asst": "Assistant",
    "acct": "Accountant",
    "swe": "Software Engineer",
    "sre": "Site Reliability Engineer",
    "rn": "Registered Nurse",
    "ml": "Machine Learning",
    "js": "JavaScript",
}
_TRADES = {
    "nurse": "nursing",
    "midwife": "nursing",
    "teacher": "teaching",
    "cook": "kitchen",
    "chef": "kitchen",
    "driver": "transport",
    "welder": "trades",
    "electrician": "trades",
    "plumber": "trades",
    "carpenter": "trades",
    "developer": "engineering",
    "engineer": "engineering",
    "programmer": "engineering",
    "designer": "product",
    "accountant": "finance",
    "recruiter": "people",
}


def naming(said: str) -> Sequence[Mapping[str, Json]] | None:
    """What is asked about, if it is a title and the roles that are known: its name and its field of work.
    None for other questions.
    """
    title, known = _TITLE.search(said), _KNOWN.search(said)
    if title is None or known is None:
        return None
    name = _name(_text(title[1]))
    roles = [each for each in _listed(known[1]) if isinstance(each, str)]
    found = next((each for each in roles if _words(each) == _words(name)), name)
    return [{"name": found, "category": _category(found)}]


def _name(title: str) -> str:
    head = _ASIDE.split(title[:MAX_TITLE].strip(), maxsplit=1)[0] or title[:MAX_TITLE]
    words = [word.strip(".-'") for word in _WORD.findall(head)]
    bare = [word for word in words if word.lower() not in _RANKS | _NUMERALS and not word.isdecimal()]
    whole = " ".join(_WHOLE.get(word.lower(), word) for word in bare or words).split()
    return " ".join(word[:1].upper() + word[1:] for word in whole[-MAX_WORDS:]) or title.strip()


def _category(name: str) -> str | None:
    department = next((each for each, (titles, _) in DEPARTMENTS.items() if name in titles), None)
    return department.lower() if department else _TRADES.get(name.lower().rpartition(" ")[2])


def _words(name: str) -> list[str]:
    return name.casefold().split()


def _text(said: str) -> str:
    """A title as it was given: plain, or as JSON where it would mean something else."""
    try:
        found = json.loads(said)
    except ValueError:
        return said
    return found if isinstance(found, str) else said


def _listed(said: str) -> list[Json]:
    try:
        found = json.loads(said)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []

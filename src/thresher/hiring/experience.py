"""How many years of experience an opening asks for. Only years that are asked of the reader count.

"25 years in business", "founded 10 years ago" and "our 30 years of experience" speak of the company, "401k
after 1 year" of what it gives. So every span of years is read with what stands around it, and what is only
wished for does not count.
"""

import re
from collections.abc import Iterator

from thresher.hiring.finding import Finding
from thresher.hiring.opening import Experience

MAX_YEARS = 20  # nobody is asked for more
MAX_MENTIONS = 60
_UNITS = ("year", "yrs", "yoe", "jahr", "años", "ans d'", "anni di", "jaar ", "lat doświadczenia")
_NUMBER = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "zehn": 10,
}
_COUNT = rf"(?:[0-9]{{1,2}}|{'|'.join(_NUMBER)})"
_SPAN = re.compile(
    rf"(?<![\w$€£])(?<![0-9]\.)(?P<low>{_COUNT}) {{0,4}}(?:\( ?[0-9]{{1,2}} ?\+?\) {{0,4}})?(?P<more>\+|plus|or more|or greater)? {{0,4}}"
    rf"(?:(?:-|to|bis|a|à|or|und|and) {{0,4}}(?P<high>{_COUNT}) {{0,4}}(?:\( ?[0-9]{{1,2}} ?\) {{0,4}})?\+? {{0,4}})?(?:or more |full )?$"
)
_WORD = re.compile(r"(?:years?|yrs?|yoe|jahren?|años|ans|anni|jaar|lat)(?:'s|s'|')?\b\.?")
_ASKED = re.compile(
    r"\b(?:experiences?|exp\b|expertise|background|track record|hands-on|working (?:with|in|as|on)|work (?:with|in)|developing|"
    r"development|engineering|programming|coding|building|"
    r"designing|managing|leading|writing|professional|relevant|industry|practi[cs]e|using|building|erfahrung|berufserfahrung|experiencia|"
    r"expérience|esperienza|"
    r"ervaring|doświadczenia|in (?:a|an|the|software|sales|marketing|product|data|similar|it)\b|as an? )"
)
_ASKED_BEFORE = re.compile(
    r"(?:\b(?:experience|erfahrung|experiencia|expérience)\b[^.\n]{0,25}|\b(?:minimum|at least|min\.?|mindestens|au moins|mínimo|"
    r"requires?|required|you have|"
    r"you've|you bring|with|have)\b[^.\n]{0,20})$"
)
_NOT_AFTER = re.compile(
    r"[ -]{0,2}(?:ago\b|old\b|in business|in a row|of age|of history|of success|of growth|of innovation|of service\b|of employment|"
    r"running|anniversary|in operation|"
    r"of operation|vesting|contract|term|warranty|history|from now|later|in the making|strong\b|and counting|after|of continuous|since|"
    r"into)"
)
_NOT_BEFORE = re.compile(
    r"\b(?:our|we(?!'re looking| (?:ask|require|expect|need|look|are looking|want|seek))|"
    r"we've|we have|us|founded|established|celebrat\w*|past|last|next|coming|over the|after|within|every|each|per|first|"
    r"for the|since|age|aged|"
    r"older than|company has|firm has|business has|team has|combined|collective|combines?|than|during|nearly|in under|up until|previous|"
    r"up to|maximum|"
    r"less than|under|backed by|history of|legacy of|heritage of)\b[^.;:\n]{0,22}$"
)
_OURS_AFTER = re.compile(
    r"[^.\n]{0,60}\b(?:we (?:are|have|help)|our (?:team|company|firm|clients|customers)|serving|has been|have been)\b"
)
_WISHED = re.compile(
    r"\b(?:preferred|nice[- ]to[- ]have|a plus|ideally|bonus|desirable|desired|advantage|wünschenswert|von vorteil|idealerweise)\b"
)
_CLAUSE = re.compile(r"[.;\n]")


def read_experience(low: str) -> Finding[Experience] | None:
    """The years that a flat text asks for: the most of what it demands, else the most of what it wishes
    for.
    """
    wished: Finding[Experience] | None = None
    asked: Finding[Experience] | None = None
    for found, only_wished in _mentions(low):
        if only_wished:
            wished = _larger(wished, found)
        else:
            asked = _larger(asked, found)
    return asked or wished


def _larger(known: Finding[Experience] | None, found: Finding[Experience]) -> Finding[Experience]:
    return found if known is None or found.value.low > known.value.low else known


def _mentions(low: str) -> Iterator[tuple[Finding[Experience], bool]]:
    for at in _anchors(low):
        begin = max(0, at - 34)
        word = _WORD.match(low, at)
        span = _SPAN.search(low[begin:at]) if word else None
        if word and span and (found := _judged(low, begin + span.start(), word.end(), span)) is not None:
            yield found, _is_wished(low, found)


def _anchors(low: str) -> list[int]:
    found: list[int] = []
    for unit in _UNITS:
        at = low.find(unit)
        while at >= 0 and len(found) < MAX_MENTIONS:
            found.append(at)
            at = low.find(unit, at + 1)
    return sorted(found)


def _judged(low: str, start: int, end: int, span: re.Match[str]) -> Finding[Experience] | None:
    least, most = _count(span["low"]), _count(span["high"]) if span["high"] else None
    after = low[end : end + 90]
    clause = _CLAUSE.search(after)
    after = after[: clause.start()] if clause else after
    before = low[max(0, start - 48) : start]
    if least > MAX_YEARS or (most is not None and (most < least or most > 2 * MAX_YEARS)):
        return None
    if _NOT_AFTER.match(after) or _NOT_BEFORE.search(before) or _OURS_AFTER.match(after):
        return None
    if not (_ASKED.search(after) or _ASKED_BEFORE.search(before)):
        return None
    return Finding(Experience(least, most), start, end)


def _count(written: str) -> int:
    return _NUMBER[written] if written in _NUMBER else int(written)


def _is_wished(low: str, found: Finding[Experience]) -> bool:
    """Whether the line says that it would only be nice."""
    start = low.rfind("\n", max(0, found.start - 80), found.start) + 1 or max(0, found.start - 40)
    stop = low.find("\n", found.end, found.end + 90)
    return _WISHED.search(low, start, stop if stop >= 0 else found.end + 60) is not None

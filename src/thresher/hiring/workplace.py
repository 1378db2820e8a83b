"""Where an opening's work is done: remote, hybrid or on site. A phrase counts only if it describes the
opening.

"Remote sensing", "hybrid cloud" and "on-site gym" are no workplaces; "not remote" and "remote is not
possible" mean the opposite; "remote within the US" is remote. Without a statement it is unknown, and a city
in the location says nothing.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache

from thresher.hiring.finding import Finding, flat
from thresher.hiring.opening import Workplace

# Phrases before and after each word that confirm or deny a workplace.

NO = (
    r"\b(?:no|not|non|isn't|is not|aren't|cannot|can't|won't|never|without|nor|unable to|don't|doesn't|kein|keine|nicht|pas de)\b"
    r"(?! only)(?:[ -](?:a|an|be|to|offer|offering|allow|allowed|support|supporting|available|eligible|open|able|work|working|for|"
    r"consider|considering|"
    r"done|performed|as|currently|possible|provide|any|the|of|accept|accepting|hire|hiring|sponsor|have)){0,5}[ -]$"
)
NEGATED_BEFORE = re.compile(NO)
NEGATED_BEHIND = re.compile(
    r"(?:ly)?(?:[- ](?:work|working|position|role|option|options|employment|candidates|arrangements?|applicants|roles|jobs|location|"
    r"locations))?(?: (?:is|are|will|can|may|in this role is))?"
    r" ?(?:not|n't|cannot|unavailable|: ?no\b|isn't|aren't|nicht|currently not|\(?no\))\b(?! only| just| require| need)"
)
FULLY_BEFORE = re.compile(r"(?:fully|100 ?%|completely|entirely|permanently|all|zu 100 ?%|exclusively)[ -]$")
NOT_FULLY_BEFORE = re.compile(
    r"\b(?:not|isn't|no|never)\b[^.\n]{0,20}(?:fully|100 ?%|completely|entirely)[ -]$"
)
REMOTE_BEHIND = re.compile(
    r"(?:-first|-only| first\b| only\b|[ -](?:position|role|job|opportunity|opening|based|employee|employment|contract)\b|"
    r" ?(?:within|anywhere|across|in|from|throughout) (?:the |any|anywhere|our |your |one of|us\b|usa\b|uk\b|u\.s|canada|united|eu\b|"
    r"europe|germany|north|latin|deutschland)|"
    r" ?[-(:,] ?(?:us\b|usa\b|u\.s|united states|uk\b|canada|emea\b|eu\b|europe|germany|anywhere|worldwide|global|north america|latam|"
    r"americas))"
)
GENERAL_BEHIND = re.compile(
    r"(?:ly)?[ ,]{1,2}(?:(?:options? )?\(?depending|employees|workers|staff|and hybrid|or hybrid (?:team|employ|work)|, hybrid|"
    r"where possible|if possible)"
)
GENERAL_BEFORE = re.compile(
    r"\b(?:for|with|all|our|other) (?:positions|roles|employees|candidates|applicants|jobs)\b[^.\n]{0,20}$"
)
# Said under a condition, or as something that may be asked for: then it is not known.
CONDITION_BEFORE = re.compile(
    r"\b(?:unless|if|except|whether|approved|approval|request|some|occasional|occasionally|possibility|opportunity to|option to|"
    r"options for|"
    r"ability to|chance to|flexibility to|flexible|either|exceptions?)\b[^.\n]{0,40}$"
)
CLOUD_BEFORE = re.compile(r"\b(?:on-?prem\w*|cloud|private|public)(?:[ ,/]| and| or){1,3}$")
MAYBE_BEFORE = re.compile(
    r"\b(?:potential|potentially|transition\w*|future|eventually|later|option of|other)\b[^.\n]{0,20}$"
)
REMOTELY_BEHIND = re.compile(
    r"ly (?:from|within|in|anywhere|across|throughout|based)\b|ly(?: full[- ]time)?[.,;)\n]"
)
REMOTE_BEFORE = re.compile(
    r"(?:(?:\b(?:role|position|job|opportunity|opening|team|company|we|workplace|location|locations|workplace type|work type|"
    r"work arrangement|work location|"
    r"arbeitsort|standort|ort)(?: ?(?:type|policy))?(?: (?:is|are|will be|can be|may be|be|offered as))?(?: (?:a|an|either|primarily|"
    r"currently))?|"
    r"\b(?:this is|it is|it's) (?:a|an)(?: (?:full[- ]time|permanent|contract|us|part[- ]time))?,?|\bwork(?:ing)?|\boperate|"
    r"\bcan be(?: done| performed)?|\bfull[- ]time)"
    r" ?[:-]? ?)$"
)
LINE_REMOTE = re.compile(
    r"(?:^|[\n(|•] ?)(?:[-#>] ?)?$"
)  # a line, a bracket or a list item that begins with the word
LINE_ENDS = re.compile(r" ?(?:[\n)|•]|$|-? ?\(?us|, |-friendly)")
THING_BEHIND = re.compile(
    r"(?:ly)?[- ](?:sens|access|control|desktop|procedure|server|support|monitor|patient|site|area|diagnos|team|colleague|office|debug|"
    r"system|hands|repositor|data|"
    r"source|user|interview|assist|view|deposit|operation|worker|culture|communit|device|execution|code|teammates|staff|friendly|"
    r"options?\b|stipend|allowance|"
    r"customer|location|village|region|learning|session|meeting|collab)|(?:ly)?[- ](?:and|or) (?:on-?site|in-?person|distributed|local|"
    r"hybrid) (?:team|colleague|customer|client|meeting)"
)
SOME_DAYS = re.compile(
    r"(?:[1-4]|one|two|three|four|ein|zwei|drei|vier)(?: ?(?:-|to|or|/) ?(?:[2-4]|two|three|four))?(?: ?\([1-4]\))?(?:\+| or more|"
    r" full)? ?(?:days?|tage)"
    r"(?: ?(?:per|a|each|/|every|pro|in der|of the|out of the)? ?(?:work ?)?(?:week|wk|woche))?"
)
EVERY_DAY = re.compile(r"\b(?:5|five) (?:full )?days (?:per|a|each|/) ?week\b")
OFFICE = re.compile(
    r"\b(?:office|on-?site|on site|in-?person|in person|hq|hub|home|remote|remotely|wfh|büro|vor ort)\b"
)
# Both are offered, as one likes.
OR_HYBRID = re.compile(r"(?: ?/ ?|,? or |,? oder | & )(?:in an? )?hybrid")
OR_REMOTE = re.compile(r"(?: ?/ ?|,? or |,? oder )(?:be )?(?:fully |100% |completely )?remote")
HYBRID_BEHIND = re.compile(
    r"(?:[ -](?:work|role|position|schedule|setup|set-up|arrangement|policy|opportunity|office|remote|job|working|basis|"
    r"environment(?! (?:of|with|and) )|modell?\b|"
    r"workplace|employment|workers?\b|within|in [a-z]+|at our|from our|home)|ly (?:in|from|at|out)|(?: ?[-:(,.;/)|\n]| \d)|$)"
)
HYBRID_BEFORE = re.compile(
    r"(?:\b(?:is|are|be|work|location|locations|arrangement|type|model|offers?|offered as|offering|hybrid|a|an|our|or|operate|position|"
    r"role|policy|currently|flexible|structured|as)\b ?[:-]? ?|"
    r"(?:^|[\n(|•:,/-]) ?)$"
)
HYBRID_THING = re.compile(
    r"[ -](?:cloud|vehicle|mobile|app\b|apps\b|electric|multi|infrastructure|it\b|data|approach|engine|architecture|identity|connect|"
    r"network|deployment|solution|kernel|"
    r"retrieval|threat|search|environments|system|car\b|cars\b|power|bond|securit|event|sales|publish|storage|integration|integer|rocket|"
    r"propuls|learning|ai\b|and multi|(?:and|or|,|/) ?(?:multi|public|private|electric|on-?prem|cloud))|, (?:or |and )?(?:multi-?)?cloud"
)
ONSITE_BEFORE = re.compile(
    r"(?:\b(?:position|role|job|this is|it is|is|fully|100 ?%|must be|be|location|workplace type|work type|work arrangement|"
    r"work location|five days(?: a week)?|"
    r"5 days(?: a week| per week)?|full[- ]time)(?: (?:a|an|based|required|to be|located|work|working|performed|primarily|fully|is|"
    r":))* ?[:-]? ?|(?:^|[\n(|]) ?)$"
)
ONSITE_BEHIND = re.compile(
    r"(?: only\b| position\b| role\b| job\b| work(?:place|ing)?\b(?! with)| presence| 5 days| five days| full[- ]time| in [a-z]| at our|"
    r" at the| required| opportunity|"
    r" ?[-:(,.;)|\n]|$)"
)
ONSITE_THING = re.compile(
    r"[ -](?:gym|park|interview|meet|visit|customer|client|support|child|train|cafe|clinic|fitness|lunch|event|food|meal|health|"
    r"with (?:client|customer)|"
    r"at (?:client|customer)|and remote|or remote|collab|perks|amenities|day\b|days\b|services|security|assess)"
)
HOME_BEHIND = re.compile(
    r"(?:home|anywhere)(?: (?:position|role|job|opportunity|company|in the|within|permanently|full[- ]time)|[.)\n,]|$)"
)
HOME_BEFORE = re.compile(r"(?:100 ?% |fully |permanent(?:ly)? |role is |position is |(?:^|[\n(|:]) ?)$")
FOR_A_WHILE = re.compile(r"[^.\n]{0,25}\b(?:weeks?|days?|months?|occasional|sometimes|up to)\b")


MAX_MENTIONS = 80
BEFORE, BEHIND = 60, 90  # characters around a word that are read
QUOTED = 50  # characters around it that are quoted
_FIELDS = {
    "remote": Workplace.REMOTE,
    "fully": Workplace.REMOTE,
    "fully remote": Workplace.REMOTE,
    "telecommute": Workplace.REMOTE,
    "true": Workplace.REMOTE,
    "hybrid": Workplace.HYBRID,
    "temporary": Workplace.HYBRID,
    "partially remote": Workplace.HYBRID,
    "partial": Workplace.HYBRID,
    "onsite": Workplace.ONSITE,
    "on-site": Workplace.ONSITE,
    "on site": Workplace.ONSITE,
    "on_site": Workplace.ONSITE,
    "in office": Workplace.ONSITE,
    "in-office": Workplace.ONSITE,
    "office": Workplace.ONSITE,
    "in person": Workplace.ONSITE,
}

# In a short field every mention counts.
_SHORT = re.compile(
    r"\b(?:(?P<no>(?:no|not|non)[- ]remote)|(?P<hybrid>hybrid|teilweise remote|partially remote)|(?P<onsite>on-?site(?: only)?|"
    r"in-?office|on site|vor ort)|"
    r"(?P<remote>remote|home[- ]?office|home[- ]?based|telecommute|work from (?:home|anywhere)|wfh|anywhere|worldwide|distributed|"
    r"offsite/home|télétravail|"
    r"teletrabajo|remoto))\b"
)
# A title may speak of remote things: only a part of it that says nothing else counts, or the word in front of
# a role.
_TITLE = re.compile(
    r"(?:^|[-(\[,|/:] ?)(?:100% |fully |us |usa |uk |eu )?(?:(?P<hybrid>hybrid)|(?P<onsite>on-?site)|(?P<remote>remote))"
    r"(?: (?:us|usa|uk|eu|europe|emea|only|role|position|job|opportunity|possible|ok|eligible|first|friendly))?(?= ?(?:[-)\],|/:]|$| or |"
    r" in ))"
    r"|^(?P<front>remote) (?!sens|support|monitor|access|operat|desktop|control|system|site|patient|server|deposit|pilot|plant|asset|"
    r"pharmac|area|coding)"
)


class _Says(IntEnum):
    """What a mention says, the strongest first."""

    EITHER = 0  # remote or hybrid, as one likes
    FULLY_REMOTE = 1
    HYBRID = 2
    NOT_REMOTE = 3
    REMOTE = 4
    ONSITE = 5


_MEANT = {
    _Says.EITHER: Workplace.REMOTE,
    _Says.FULLY_REMOTE: Workplace.REMOTE,
    _Says.HYBRID: Workplace.HYBRID,
    _Says.NOT_REMOTE: Workplace.ONSITE,
    _Says.REMOTE: Workplace.REMOTE,
    _Says.ONSITE: Workplace.ONSITE,
}
_TAGS = {
    "remote": _Says.REMOTE,
    "hybrid": _Says.HYBRID,
    "onsite": _Says.ONSITE,
    "on-site": _Says.ONSITE,
}  # "#LI-Remote"
_ANCHORS = (
    "remote",
    "hybrid",
    "on-site",
    "onsite",
    "on site",
    "in-office",
    "in office",
    "in-person",
    "in person",
    "days",
    "work from ",
    "wfh",
    "telecommut",
    "vor ort",
)


def of_field(text: str) -> Workplace | None:
    """What a field that is about nothing else says: "HYBRID", "TELECOMMUTE", "On-site"."""
    return _FIELDS.get(" ".join(flat(text[:60]).split()))


@lru_cache(4_096)
def in_location(text: str) -> Finding[Workplace] | None:
    """What a location says beside its places: "Remote - US", "Berlin (hybrid)"."""
    found = list(_SHORT.finditer(flat(text[:1_000])))
    chosen = next(
        (each for name in ("no", "hybrid", "remote", "onsite") for each in found if each.lastgroup == name),
        None,
    )
    if chosen is None:
        return None
    remote_too = any(
        each.lastgroup == "remote" and _elsewhere(each, chosen) for each in found
    )  # "Leeds (hybrid); Remote, UK"
    name = (
        "remote"
        if chosen.lastgroup == "hybrid" and remote_too
        else str(chosen.lastgroup).replace("no", "onsite")
    )
    return Finding(Workplace("onsite" if name.startswith("onsite") else name), *chosen.span())


def _elsewhere(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two mentions belong to two places."""
    first, second = sorted((one, other), key=lambda each: each.start())
    return not {";", "|", "\n", "/"}.isdisjoint(one.string[first.end() : second.start()])


@lru_cache(4_096)
def in_title(title: str) -> Finding[Workplace] | None:
    """What a title says beside the role: "Engineer (Remote)"."""
    found = _TITLE.search(flat(title[:300]))
    if found is None:
        return None
    name = str(found.lastgroup)
    return Finding(Workplace.REMOTE if name == "front" else Workplace(name), *found.span(name))


def in_text(low: str) -> Finding[Workplace] | None:
    """What a flat description says of the opening. Of several mentions the strongest counts, and of equals
    the first.
    """
    best: tuple[_Says, int, int] | None = None
    for says, start, end in _mentions(low):
        if best is None or says < best[0]:
            best = (says, start, end)
    if best is None:
        return None
    return Finding(_MEANT[best[0]], best[1], best[2])


def _mentions(low: str) -> Iterator[tuple[_Says, int, int]]:
    left = MAX_MENTIONS
    for word in _ANCHORS:
        at = low.find(word)
        while at >= 0 and left:
            left -= 1
            if (found := _said(low, word, at, at + len(word))) is not None:
                yield found
            at = low.find(word, at + len(word))


def _said(low: str, word: str, at: int, end: int) -> tuple[_Says, int, int] | None:
    before, behind = _squeezed(low[max(0, at - BEFORE) : at]), _squeezed(low[end : end + BEHIND])
    if before[-1:].isalnum():
        return None
    if before.endswith("#li-") and word in _TAGS:
        return _TAGS[word], at - 4, end
    match word:
        case "remote":
            says = (
                _Says.HYBRID
                if _days_of_week(low, at, end) and not _is_denied(before, behind)
                else _remote(before, behind)
            )
        case "hybrid":
            says = _hybrid(before, behind)
        case "days":
            return _days(low, at)
        case "work from " | "wfh" | "telecommut":
            says = _home(word, before, behind)
        case _:
            says = _onsite(before, behind)
    return None if says is None else (says, *_widened(low, at, end))


def _squeezed(text: str) -> str:
    """With single spaces: where mark-up stood, several stand now."""
    return re.sub(" {2,}", " ", text) if "  " in text else text


def _is_denied(before: str, behind: str) -> bool:
    return NEGATED_BEFORE.search(before) is not None or NEGATED_BEHIND.match(behind) is not None


def _remote(before: str, behind: str) -> _Says | None:
    if (either := OR_HYBRID.match(behind)) is not None:
        return None if GENERAL_BEHIND.match(behind, either.end()) else _Says.EITHER
    if NOT_FULLY_BEFORE.search(before):
        return None
    if _is_denied(before, behind):
        return _Says.NOT_REMOTE
    if GENERAL_BEHIND.match(behind) or GENERAL_BEFORE.search(before) or CONDITION_BEFORE.search(before):
        return None
    if FULLY_BEFORE.search(before):
        return _Says.FULLY_REMOTE
    if THING_BEHIND.match(behind):
        return None
    if REMOTE_BEHIND.match(behind) or REMOTELY_BEHIND.match(behind):
        return _Says.REMOTE
    alone = LINE_REMOTE.search(before) and LINE_ENDS.match(behind)
    return _Says.REMOTE if alone or (REMOTE_BEFORE.search(before) and not behind.startswith("ly ")) else None


def _days_of_week(low: str, at: int, end: int) -> bool:
    """Whether the days are counted on which it is remote: "remote 2 days a week"."""
    days = SOME_DAYS.search(low, max(0, at - 30), min(len(low), end + 30))
    if days is None or "week" not in low[days.start() : days.end() + 10]:
        return False
    return "\n" not in low[min(at, days.start()) : max(end, days.end())]


def _hybrid(before: str, behind: str) -> _Says | None:
    if (either := OR_REMOTE.match(behind)) is not None:
        return None if GENERAL_BEHIND.match(behind, either.end()) else _Says.EITHER
    if HYBRID_THING.match(behind) or GENERAL_BEHIND.match(behind):
        return None
    if NEGATED_BEFORE.search(before) or MAYBE_BEFORE.search(before) or CLOUD_BEFORE.search(before):
        return None
    said = HYBRID_BEFORE.search(before) or before.endswith(("this ", "the "))
    return _Says.HYBRID if said and HYBRID_BEHIND.match(behind) else None


def _days(low: str, at: int) -> tuple[_Says, int, int] | None:
    """Days of a week that are spent in the office, or out of it: "three days a week in our Leeds office"."""
    begin = max(low.rfind("\n", max(0, at - 24), at) + 1, at - 24, 0)
    stop = low.find("\n", at, at + 70)
    stop = stop if stop >= 0 else min(len(low), at + 70)
    if (every := EVERY_DAY.search(low, begin, stop)) is not None and OFFICE.search(low, begin, stop):
        return _Says.ONSITE, every.start(), every.end()
    some = SOME_DAYS.search(low, begin, stop)
    if (
        some is None
        or not some.start() < at < some.end()
        or "week" not in low[begin:stop]
        or not OFFICE.search(low, begin, stop)
    ):
        return None
    return _Says.HYBRID, some.start(), some.end()


def _onsite(before: str, behind: str) -> _Says | None:
    if ONSITE_THING.match(behind) or NEGATED_BEFORE.search(before):
        return None
    return _Says.ONSITE if ONSITE_BEFORE.search(before) and ONSITE_BEHIND.match(behind) else None


def _home(word: str, before: str, behind: str) -> _Says | None:
    if NEGATED_BEFORE.search(before):
        return _Says.NOT_REMOTE
    if behind.startswith("ing ") or FOR_A_WHILE.match(behind):
        return None
    if word != "work from ":
        return _Says.REMOTE if HOME_BEFORE.search(before) else None
    home = HOME_BEHIND.match(behind)
    if home is None:
        return None
    return _Says.REMOTE if "anywhere" in home[0] or " " in home[0] or HOME_BEFORE.search(before) else None


def _widened(low: str, start: int, end: int) -> tuple[int, int]:
    """The mention with the words beside it that make it what it is, within its sentence."""
    since = max(0, start - QUOTED)
    breaks = [
        low.rfind(mark, since, start) + len(mark) for mark in ("\n", ". ", "; ") if mark in low[since:start]
    ]
    begin = max(breaks) if breaks else low.find(" ", since, start) + 1 if since else 0
    stops = [at for mark in "\n.;" if (at := low.find(mark, end, end + QUOTED)) >= 0]
    last = (
        min(stops)
        if stops
        else max(low.rfind(" ", end, end + QUOTED), end)
        if end + QUOTED < len(low)
        else len(low)
    )
    return (begin if 0 < begin <= start or since == 0 else start), last

"""The sort of contract: full time, part time, contract, temporary, internship, volunteer. An opening may
offer several.

The field that is about nothing else is read word by word; a title or a description only where the phrase
speaks of the opening, because "benefits for full-time employees" and "contract negotiation" do not.
"""

import re
from functools import lru_cache

from thresher.hiring.finding import Finding, flat
from thresher.hiring.opening import Employment

_FIELD = re.compile(
    r"(?<![a-z])(?:(?P<full_time>full[-_ ]?time|vollzeit|temps plein|tiempo completo|jornada completa|tempo pieno|voltijd|fulltime|fte|"
    r"heltid|tempo integral)|"
    r"(?P<part_time>part[-_ ]?time|teilzeit|temps partiel|tiempo parcial|media jornada|deeltijd|parttime|deltid|meio período)|"
    r"(?P<internship>intern|internship|interns|praktikum|praktikant(?:in)?|werkstudent(?:in)?|working[-_ ]student|stage|stagiaire|"
    r"trainee|co-?op|estágio|prácticas)|"
    r"(?P<contract>contract(?:or|ors)?|freelance|freelancer|corp[- ]to[- ]corp|c2c|1099|b2b|freiberuflich|independent)|"
    r"(?P<temporary>temporary|temp|fixed[-_ ]term|seasonal|befristet|interim|cdd|temporal|per[-_ ]diem|casual|limited)|"
    r"(?P<volunteer>volunteer|voluntary|ehrenamtlich|bénévole))(?![a-z])"
)
_TITLE = re.compile(
    r"(?<![a-z])(?:(?P<full_time>full[- ]?time|vollzeit)|(?P<part_time>part[- ]?time|teilzeit|(?<![0-9])[1-7]0 ?%)|"
    r"(?P<internship>intern|interns|internship|internships|praktikum|praktikant(?:in)?|werkstudent(?:in)?|working student|stagiaire|co-op)|"
    r"(?P<contract>(?<=[(\[-] )contract|(?<=[(\[])contract(?:or)?|contractor|freelance(?:r)?|contract(?=[)\]]|$| -)|"
    r"\d+[- ]months? contract)|"
    r"(?P<temporary>temporary|fixed[- ]term|seasonal|befristet|(?<=[(\[])temp|maternity cover)|(?P<volunteer>volunteer))(?![a-z])"
)
# In a description: a label before it, or a noun behind it.
_LABEL = re.compile(
    r"(?:\b(?:(?:employment|job|position|contract|work|schedule|role|hire|engagement)(?: ?/? ?(?:type|status|schedule))|schedule|"
    r"type of (?:employment|contract)|"
    r"beschäftigungsart|anstellungsart|arbeitszeit|employment)\b ?[:-]+ ?|\b(?:this is|it is|it's|we offer|offering|looking for|seeking|"
    r"hiring|as) an? "
    r"(?:[a-z-]+,? (?:[a-z-]+,? )?)?|^ ?[-•]? ?|\n ?[-•]? ?|[(|,] ?|\bpermanent,? |\b(?:role|position|job|opportunity) is (?:a )?)$"
)
_NOUN = re.compile(
    r"[ ,/-]*(?:(?:remote|hybrid|on-?site|permanent|exempt|regular|w2|salaried|hourly|direct hire|contract|paid|temporary|position|role|"
    r"and)[ ,/-]+){0,3}"
    r"(?:position|role|job|opportunity|employment|basis|contract|assignment|internship|engagement|stelle|anstellung|festanstellung|"
    r"schedule|[|)\n•.]|$)"
)
_NEGATED = re.compile(r"\b(?:not|no|isn't|non|nor)\b(?: (?:a|an|currently|any|offering|for|open to))* ?$")
_ANCHORS = (
    ("full-time", Employment.FULL_TIME),
    ("full time", Employment.FULL_TIME),
    ("vollzeit", Employment.FULL_TIME),
    ("part-time", Employment.PART_TIME),
    ("part time", Employment.PART_TIME),
    ("teilzeit", Employment.PART_TIME),
    ("internship", Employment.INTERNSHIP),
    ("praktikum", Employment.INTERNSHIP),
    ("contract", Employment.CONTRACT),
    ("freelance", Employment.CONTRACT),
    ("fixed-term", Employment.TEMPORARY),
    ("fixed term", Employment.TEMPORARY),
    ("temporary", Employment.TEMPORARY),
    ("seasonal", Employment.TEMPORARY),
)
MAX_MENTIONS = 40
HOURS = (Employment.FULL_TIME, Employment.PART_TIME)  # how long somebody works, not as what


@lru_cache(2_048)
def of_field(text: str) -> tuple[Employment, ...]:
    """What a field that is about nothing else says: "FULL_TIME", "permanent / full-time", "CDD"."""
    return tuple(dict.fromkeys(Employment(str(each.lastgroup)) for each in _FIELD.finditer(flat_field(text))))


def flat_field(text: str) -> str:
    """A field in small letters. Underlines are kept: FULL_TIME is one word."""
    return text[:300].lower()


@lru_cache(8_192)
def in_title(title: str) -> tuple[Finding[Employment], ...]:
    """What a title says beside the role, each sort once."""
    found: dict[Employment, Finding[Employment]] = {}
    for each in _TITLE.finditer(flat(title[:300])):
        if each.lastgroup is not None:
            found.setdefault(Employment(each.lastgroup), Finding(Employment(each.lastgroup), *each.span()))
    return tuple(found.values())


def in_text(low: str) -> tuple[Finding[Employment], ...]:
    """What a flat description says of the opening, each sort once, in the order of the text."""
    found: dict[Employment, Finding[Employment]] = {}
    left = MAX_MENTIONS
    for word, meant in _ANCHORS:
        at = low.find(word)
        while at >= 0 and left and meant not in found:
            left -= 1
            if _is_said(low, at, at + len(word)):
                found[meant] = Finding(meant, at, at + len(word))
            at = low.find(word, at + 1)
    return tuple(sorted(found.values(), key=lambda each: each.start))


def _is_said(low: str, start: int, end: int) -> bool:
    before = low[max(0, start - 50) : start]
    if before[-1:].isalnum() or _NEGATED.search(before):
        return False
    return _LABEL.search(before) is not None and _NOUN.match(low, end) is not None

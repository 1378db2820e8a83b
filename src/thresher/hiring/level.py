"""How senior an opening is, from the words of its title. The description is not asked: it speaks of the
people around as well.

A title may hold several: "Senior Staff Engineer" is staff, "Senior/Staff Engineer" asks for a senior at
least, "Senior Product Manager" manages a product, "Junior Operations Manager" is the junior of those, "Lead
Generation Specialist" leads nobody, and a staff accountant is no staff engineer.
"""

import re
from functools import lru_cache

from thresher.hiring.finding import Finding, flat
from thresher.hiring.opening import Level

MAX_LENGTH = 300  # characters of a title that are read
_INTERN = (
    r"intern|interns|internship|internships|co-op|coop|praktikant(?:in)?|praktikum|pflichtpraktikum|werkstudent(?:in)?|working student|"
    r"student worker|"
    r"student assistant|studentische hilfskraft|stagiaire|alternance|alternant(?:e)?|becari[oa]|estagi[aá]ri[oa]|est[aá]gio|tirocinio|"
    r"stagista|placement student"
)
_JUNIOR = (
    r"junior|jr|entry[- ]level|new grads?|new graduates?|graduate|grad|early[- ]career|"
    r"auszubildende[rn]?|ausbildung|azubi|"
    r"berufseinsteiger(?:in)?|absolvent(?:in)?|d[ée]butant(?:e)?|aprendiz"
)
_BEGINNER = re.compile(
    r"junior|jr|entry[- ]level"
)  # "graduate" and "early career" may be what the role is about
_LEARNER = r"trainee|apprentice|apprenticeship|auszubildende[rn]?|ausbildung|azubi|aprendiz"
_MID = r"mid[- ]?level|midlevel|mid[- ]?weight|intermediate|mid|medior"
_SENIOR = r"senior|sr|snr|sen|s[ée]nior|mid[- ](?:to[- ])?senior"
_WORDS = re.compile(
    rf"(?<![\w.])(?:(?P<intern>{_INTERN})|(?P<learner>{_LEARNER})|(?P<senior>{_SENIOR})|(?P<junior>{_JUNIOR})|(?P<mid>{_MID})|(?P<associate>associate)|"
    rf"(?P<staff>staff)|"
    r"(?P<principal>principal|distinguished)|(?P<lead>lead|team ?lead(?:er)?|tech ?lead|teamleit(?:er|ung)(?:in)?|leiter(?:in)?)|"
    r"(?P<manager>managers?|mgr|supervisor|foreman)|(?P<director>director|head of|head|direktor(?:in)?|directeur|directrice)|"
    r"(?P<executive>chief|ceo|cto|cfo|coo|cio|cmo|ciso|cpo|cro|vp|svp|evp|vice[- ]president|president|managing director|"
    r"gesch[äa]ftsf[üu]hrer(?:in)?))(?!\w)"
)
_GRADE = re.compile(
    r"\b(?:engineer|developer|analyst|scientist|designer|technician|administrator|specialist|architect|sde|swe|sdet|programmer|"
    r"representative|consultant|"
    r"accountant|associate|assistant|coordinator|operator|researcher|tester|paralegal|writer|editor|recruiter|manager|buyer|planner|"
    r"mechanic)s?"
    r"[ ,-]{1,3}(?:level |grade |l)?(?P<grade>i{1,3}|iv|v|[1-5])(?![\w.+]| ?(?:years?|months?|x\b|positions?|openings?|days?))"
)
_GRADES = {
    "i": Level.JUNIOR,
    "1": Level.JUNIOR,
    "ii": Level.MID,
    "2": Level.MID,
    "iii": Level.SENIOR,
    "3": Level.SENIOR,
    "iv": Level.STAFF,
    "4": Level.STAFF,
    "v": Level.PRINCIPAL,
    "5": Level.PRINCIPAL,
}
_TECHNICAL = re.compile(
    r"\b(?:engineer\w*|developer|scientist|designer|architect|research\w*|programmer|sre|devops|data|software|machine|security|product|"
    r"firmware|ml|ai|ux|"
    r"tech|technical|technology)\b"
)
# What each word is not, by the words right before and right behind it.
_NO_STAFF = re.compile(r"(?:of|technical|medical|nursing) $")
_NO_LEAD_BEHIND = re.compile(
    r"[ -](?:gen\b|generation|qualif|management|nurtur|time|acid|paint|abatement|poison)"
)
_NO_PRINCIPAL_BEFORE = re.compile(r"(?:assistant|vice|deputy|school|elementary) $")
_NO_ASSOCIATE_BEHIND = re.compile(
    r"[ -](?:professor|director|vice|vp|partner|counsel|dean|attorney|principal|general|manager|editor|producer|veterinarian|dentist)"
)
_OFFICER_BEHIND = re.compile(r"(?: [\w&/-]{1,20}){1,4} officer")  # a crew has a chief too
_NO_HEAD_BEHIND = re.compile(
    r"[ -](?:teacher|coach|nurse|chef|cook|start|count|hunter|baker|bartender|cashier|waiter|gardener|lifeguard)"
)
# Words of a level that belong to what the role is about: homes for seniors, schools, markets.
_NOT_OF_THE_ROLE = re.compile(
    r"[ -](?:living|care\b|citizen|cent(?:er|re)|services|housing|adults?|high|college|school|achievement|programs?\b|student|"
    r"admission|studies|education|medical|atlantic|market|west|town|term|size|cap\b|east|states)"
)
# Who manages a thing and not people.
_OF_A_THING = re.compile(
    r"\b(?:product|project|program|programme|account|customer success|client success|success|community|case|office|content|brand|"
    r"marketing|social media|partner|"
    r"partnerships?|relationship|property|release|scrum|territory|delivery|event|events|campaign|category|portfolio|risk|contract|"
    r"contracts|key account|"
    r"change|grant|grants|vendor|proposal|bid|growth|seo|crm|lifecycle|renewals?|engagement|implementation|channel|alliances?)[ -]$"
)
_TO_A_CHIEF = re.compile(
    r"\b(?:assistant|aide|secretary|advis[eo]r|partner|analyst|chief of staff),? (?:to|of) "
)
_EITHER = re.compile(r" ?(?:/|\bor\b|\bto\b|\||,) ?")
_OWN = ("junior", "mid", "senior", "staff", "principal")  # levels of one's own work, without people
_ORDER = (
    "executive",
    "director",
    "manager",
    "lead",
    "principal",
    "staff",
    "senior",
    "mid",
    "junior",
    "associate",
)
_LEVELS = {name: Level(name) for name in _ORDER if name != "associate"}
_LEVELS |= {"associate": Level.JUNIOR, "intern": Level.INTERN, "learner": Level.JUNIOR}


@lru_cache(8_192)
def read_level(title: str) -> Finding[Level] | None:
    """The level that a title names, or None."""
    line = flat(title[:MAX_LENGTH])
    if (aide := _TO_A_CHIEF.search(line)) is not None:
        # "Assistant to the CEO": whom somebody works for is not who they are.
        line = line[: aide.end()]
    found = [each for each in _WORDS.finditer(line) if _means_it(line, each)]
    names = {str(each.lastgroup): each for each in reversed(found)}
    for name in ("intern", "learner"):  # who learns to be a manager is none yet
        if name in names:
            return _finding(names[name])
    if found and found[0].lastgroup == "junior" and _BEGINNER.fullmatch(found[0][0]):
        # Whatever the role is called, it is the first one.
        return _finding(found[0])
    own = [each for each in found if each.lastgroup in _OWN]
    if len(own) > 1 and _EITHER.fullmatch(line, own[0].end(), own[1].start()):
        names = {name: each for name, each in names.items() if name not in _OWN or each is own[0]}
    best = next((names[name] for name in _ORDER if name in names), None)
    grade = _GRADE.search(line)
    if best is None or (best.lastgroup == "associate" and grade is not None):
        return _graded(line, grade) if grade else None
    return _finding(best)


def _graded(line: str, grade: re.Match[str]) -> Finding[Level]:
    level = _GRADES[grade["grade"]]
    if level in (Level.STAFF, Level.PRINCIPAL) and not _TECHNICAL.search(
        line
    ):  # only engineers have ladders that go on like this
        level = Level.SENIOR
    return Finding(level, *grade.span("grade"))


def _finding(match: re.Match[str]) -> Finding[Level]:
    return Finding(_LEVELS[str(match.lastgroup)], match.start(), match.end())


def _means_it(line: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    before = line[max(0, start - 24) : start]
    match match.lastgroup:
        case "staff":
            return _NO_STAFF.search(before) is None and _TECHNICAL.search(line) is not None
        case "lead":
            return _NO_LEAD_BEHIND.match(line, end) is None
        case "principal":
            return _NO_PRINCIPAL_BEFORE.search(before) is None
        case "associate":
            return _NO_ASSOCIATE_BEHIND.match(line, end) is None and not line[:start].strip(" -(")
        case "manager":
            return _OF_A_THING.search(before) is None
        case "director":
            return _NO_HEAD_BEHIND.match(line, end) is None
        case "executive":
            return match[0] != "chief" or _OFFICER_BEHIND.match(line, end) is not None
        case "senior" | "junior" | "mid":
            return _NOT_OF_THE_ROLE.match(line, end) is None
        case _:
            return True

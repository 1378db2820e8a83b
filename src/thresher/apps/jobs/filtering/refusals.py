"""Rules that reject a posting outright. Each checks one thing, gives a reason and a quote; silence rejects
nothing.
"""

import re

from thresher.apps.jobs.filtering.case import Case, pay_known
from thresher.apps.jobs.filtering.compiled_profile import CompiledProfile, same_place
from thresher.apps.jobs.filtering.negation import negated
from thresher.apps.jobs.filtering.phrase import Phrase, counted
from thresher.apps.jobs.filtering.rejection import Rejection, Rules, in_field, in_text
from thresher.apps.jobs.person.wants import Rank
from thresher.core.evidence import Place
from thresher.hiring.opening import Pay, Workplace
from thresher.hiring.records import company_name_key

# A type of up to three letters ("hr") is searched in titles only: in a text it is too often something else.
SHORT_TYPE = 3
# Phrases that make the type the role itself. Merely working with a team does not.
_ROLE = re.compile(
    r"(?<!\w)(?:hiring|looking for|seeking|responsibilities|duties|join|joining|members?|part of|this is an?|as an?|role:|position:)(?!\w)"
)
_ROLE_AFTER = re.compile(
    r"\s{1,3}(?:(?:team|department)\s{1,3}(?:is|are)\s{1,3}(?:hiring|growing|looking|seeking)|representative)(?!\w)"
)
# "Work with the sales team" is not a sales role, and "we support you" is not a support role.
_BESIDE = re.compile(
    r"(?<!\w)(?:with|alongside|across|between|(?<!looking )(?<!hiring )for|to|from|including|such as|partner|enable|help|assist|other|"
    r"and|or|years|experience)(?!\w)"
)
_VERB_BEFORE = re.compile(r"(?<!\w)(?:will|can|could|would|may|also|you|we|they|who|that)\s{1,3}$")
_VERB_AFTER = re.compile(
    r"\s{1,3}(?:you|your|our|us|the|a|an|their|them|its|this|these|those|all|each|every)(?!\w)"
)
_EDGE = re.compile(r"[.!?;\n\r]")
_OPEN = re.compile(r"(?i)(?<!\w)(?:from|starting|starts|at least|minimum|min|over|above|ab)(?!\w)|\+")


def job_type(case: Case, rules: Rules) -> Rejection | None:
    """An excluded type of work, in the title, or as the role that the description speaks of."""
    for phrase in case.sieve.types:
        if place := case.in_title(phrase):
            return Rejection(
                "type", "excluded_type", f"the title says {phrase.text}, a type that you exclude", place
            )
    if rules.type_distance == 0 or _wanted_title(case):
        return None
    for phrase in case.sieve.types:
        if len(phrase.text) > SHORT_TYPE and (place := _role_of(case, phrase, rules.type_distance)):
            return Rejection(
                "type",
                "excluded_type",
                f"it is about a role in {phrase.text}, a type that you exclude",
                place,
            )
    return None


def _wanted_title(case: Case) -> bool:
    """Whether the title says what the work is, and it is what the person looks for; then the description need
    not be asked.
    """
    return any(case.title in phrase for phrase in case.sieve.titles)


def _role_of(case: Case, phrase: Phrase, distance: int) -> Place | None:
    for start, end in phrase.hits(case.text):
        left, right = _sentence(case.text, start, end, distance)
        before = case.text[left:start]
        near = _ROLE.search(before) or _ROLE_AFTER.match(case.text, end, right)
        if near and not _aside(case.text, before, end) and not negated(case.opening.text, start, end):
            return in_text(case.opening.text, start, end)
    return None


def _aside(text: str, before: str, end: int) -> bool:
    return bool(_BESIDE.search(before) or _VERB_BEFORE.search(before) or _VERB_AFTER.match(text, end))


def _sentence(text: str, start: int, end: int, distance: int) -> tuple[int, int]:
    """How far around a phrase its own sentence goes, at most `distance` to each side."""
    left, right = max(0, start - distance), min(len(text), end + distance)
    for edge in _EDGE.finditer(text, left, start):
        left = edge.end()
    after = _EDGE.search(text, end, right)
    return left, after.start() if after else right


def seniority(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001 - all rules are called alike
    """An excluded level, by a word of the title, or by what the title was read to mean."""
    for phrase in case.sieve.seniority:
        if place := case.in_title(phrase):
            return Rejection(
                "seniority",
                "excluded_level",
                f"the title says {phrase.text}, a level that you exclude",
                place,
            )
    level = case.opening.level
    if level is None or level not in case.sieve.excluded_levels:
        return None
    word = case.sieve.excluded_levels[level]
    place = case.fact("level", "title", case.opening.title)
    return Rejection("seniority", "excluded_level", f"its level is {level}, and you exclude {word}", place)


def company(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001
    return stopped_company(case.sieve, case.opening.company)


def stopped_company(sieve: CompiledProfile, name: str | None) -> Rejection | None:
    """An excluded company: its name, or a name that begins a longer one ("Acme" is also "Acme Robotics",
    "Meta" is not "Metabase").
    """
    if not name or not sieve.companies:
        return None
    low, key = name.lower(), company_name_key(name)
    for phrase, known in sieve.companies:
        if key == known or (len(low) == len(name) and low in phrase):
            return Rejection(
                "company",
                "excluded_company",
                f"you exclude the company {phrase.text}",
                in_field("company", name),
            )
    return None


def keyword(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001
    """An excluded phrase in title or description, unless the sentence takes it back."""
    for phrase in case.sieve.keywords:
        if place := case.somewhere(phrase):
            return Rejection(
                "keyword", "excluded_keyword", f"it says {phrase.text!r}, which you exclude", place
            )
    return None


def salary_floor(case: Case, rules: Rules) -> Rejection | None:
    """The most that it pays is under the floor."""
    pay, wants = pay_known(case), case.profile.salary
    most = top(pay, rules)
    if pay is None or most is None or most >= wants.floor:
        return None
    reason = f"pays at most {most:,} {wants.currency} a year; your floor is {wants.floor:,}"
    return Rejection("salary", "salary_floor", reason, case.fact("pay", "salary", pay.text))


def top(pay: Pay | None, rules: Rules) -> int | None:
    """The most that is paid a year, where that is said. "From 90,000" names no most; an amount too small for
    a year is no year's.
    """
    if pay is None:
        return None
    most = pay.year_high
    if most is None and pay.year_low is not None and not _OPEN.search(pay.text):
        most = pay.year_low
    return None if most is None or most < rules.salary_least else most


def commission(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001
    """Nothing but commission, or a scheme in which one sells to sellers."""
    for phrase in case.sieve.commission:
        if place := case.somewhere(phrase):
            return Rejection(
                "salary", "commission_only", f"it says {phrase.text!r}: paid by commission alone", place
            )
    return None


def workplace(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001
    """Work in a place or in a way that the person does not want. Where only a country is named, nobody said
    that it is in an office.
    """
    where, wants = case.opening.workplace, case.profile.workplace
    if where is None or (wants.remote and any(spot.remote for spot in case.opening.spots)):
        return None
    if where is Workplace.REMOTE:
        reason = None if wants.remote else "it is remote, and you do not want remote work"
    elif where is Workplace.HYBRID:
        reason = _hybrid(case)
    else:
        reason = _onsite(case)
    if reason is None:
        return None
    said = next((spot.text for spot in case.opening.spots), "")
    place = case.opening.evidence.places.get("workplace") or (in_field("location", said) if said else None)
    return Rejection("workplace", f"{where}_not_wanted", reason, place)


def _hybrid(case: Case) -> str | None:
    wanted = case.sieve.hybrid_in
    if wanted is None or not (cities := [spot for spot in case.opening.spots if spot.city]):
        return None
    if any(same_place(each, spot) for each in (*wanted, *case.sieve.onsite_in) for spot in cities):
        return None
    where = ", ".join(each.city or each.text for each in wanted) or "nowhere"
    return f"it is hybrid in {cities[0].text}, and you want hybrid work only in {where}"


def _onsite(case: Case) -> str | None:
    if case.profile.workplace.onsite:
        return None
    wanted, cities = case.sieve.onsite_in, [spot for spot in case.opening.spots if spot.city]
    if not wanted:
        return "it is in an office, and you do not want that"
    if not cities or any(same_place(each, spot) for each in wanted for spot in cities):
        return None
    return f"it is in an office in {cities[0].text}, and you want that only in {', '.join(each.city or each.text for each in wanted)}"


def age(case: Case, rules: Rules) -> Rejection | None:
    """Posted too long ago. What the first look at a board found is as old as that look: until then nobody
    could have seen it.
    """
    days, known = case.age, case.known_for if rules.age_first_look else None
    if days is None or case.opening.posted is None:
        return None
    if (days if known is None else min(days, known)) <= rules.age_limit:
        return None
    since = "" if known is None else f", and the first look at its board was {counted(known, 'day')} ago"
    reason = f"posted {counted(days, 'day')} ago{since}; at most {rules.age_limit} are allowed"
    return Rejection("age", "too_old", reason, case.fact("posted", "posted", case.opening.posted.isoformat()))


def technology(case: Case, rules: Rules) -> Rejection | None:  # noqa: ARG001
    """A technology that is out of the question."""
    for each in case.ranked(Rank.FAIL):
        return Rejection(
            "technology",
            "failed_technology",
            f"it names {each.name}, which is out of the question for you",
            each.place,
        )
    return None

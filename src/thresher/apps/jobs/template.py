"""What `thresher init` writes for somebody who looks for a job: a profile, and companies to follow."""

from collections.abc import Mapping

from thresher import ProjectDraft, ProjectQuestion, Template, UsageError
from thresher.apps.jobs.person.profile import read_profile
from thresher.core.template import parts_of, written

FILE = "profile.yaml"
PROFILE = """\
# What you want of an opening. thresher jobs profile example explains every key; after a change:
#   thresher jobs profile set profile.yaml && thresher jobs judge --all && thresher run

{place}
# Words of the titles that you look for.
titles: {titles}

# Technologies: required (you look for these), ok, strike (costs points), fail (never). With years of practice: {{rank: ok, years: 5}}
skills: {skills}

# How you work. An office is fine near you.
workplace: {{remote: yes, {hybrid}onsite: yes}}

# A year. Under the floor is rejected, under the target costs points.
# salary: {{floor: 60k, target: 80k, currency: USD}}

# An opening that asks for fewer years than this is probably not senior enough.
experience: 2

# Words of the title. Excluded ones reject.
levels: {{excluded: [intern]}}
"""
PLACE = ("city", "region", "country")
# It is March there, and always will be: no posting is too old.
PRACTICE = {
    "jobs.filter.age_limit": 36_500,
    "jobs.filter.age_points": 0,
    "jobs.score.fresh": 0,
    "jobs.score.stale": 0,
    "jobs.score.old": 0,
}


def _place(answer: str) -> str:
    """The lines of a profile that say where one lives: city, region and country, or city and country."""
    parts = parts_of(answer)
    if len(parts) > len(PLACE):
        raise UsageError("write a city and its country, such as Berlin, DE, or Denver, CO, US")
    names = PLACE if len(parts) == len(PLACE) else ("city", "country")
    return "".join(f"{name}: {written(part)}\n" for name, part in zip(names, parts, strict=False))


def _check(line: str) -> None:
    read_profile(line, "the answer")


def _skills(answer: str) -> str:
    return "{" + ", ".join(f"{written(each.lower())}: required" for each in parts_of(answer)) + "}"


def _addresses(answer: str) -> list[str]:
    found = []
    for site in parts_of(answer):
        if any(char.isspace() for char in site) or "." not in site or site.startswith("-"):
            raise UsageError(f"{site[:80]!r} is no site; write its name, such as acme.com")
        found.append(site if "://" in site else f"https://{site}/")
    return found


def write(said: Mapping[str, str], practice: bool) -> ProjectDraft:
    """The profile as a file, which is put to use, and the companies as tasks."""
    place = _place(said["place"])
    city = parts_of(said["place"])[:1]
    hybrid = f"hybrid_in: {written(city)}, " if city else ""
    profile = PROFILE.format(
        place=f"# Where you live. Openings there need a lower score.\n{place}" if place else "",
        titles=written(parts_of(said["titles"])),
        skills=_skills(said["skills"]),
        hybrid=hybrid,
    )
    _check(profile)
    companies = _addresses(said["sites"])
    add = [("add", "company", *companies)] if companies else []
    more = [] if companies else [("add company acme.com", "name a company to follow, by its site")]
    return ProjectDraft(
        settings=PRACTICE if practice else {},
        files={FILE: profile},
        commands=[("jobs", "profile", "set", FILE), *add],
        steps=[
            *more,
            ("run", "read the boards of the companies, and judge what they offer"),
            ("jobs matches", "see what suits you; thresher jobs why says why there is not more"),
            ("up", "go on for ever, and see it in the browser"),
        ],
    )


TEMPLATE = Template(
    "Find a job",
    (
        ProjectQuestion(
            "titles",
            "Titles that you look for",
            "software engineer, developer",
            "analyst, engineer, accountant, designer, manager",
            lambda text: _check(f"titles: {written(parts_of(text))}"),
        ),
        ProjectQuestion(
            "skills",
            "What you know well",
            "python, sql",
            "sql, python, excel",
            lambda text: _check(f"skills: {_skills(text)}"),
        ),
        ProjectQuestion(
            "place",
            "Where you live: city and country, such as Berlin, DE, or Denver, CO, US",
            "",
            "Denver, CO, US",
            lambda text: _check(_place(text)),
        ),
        ProjectQuestion(
            "sites",
            "Sites of companies to follow, such as acme.com (none: add them later)",
            "",
            "www.acme.example, www.isthmus.example",
            _addresses,
        ),
    ),
    write,
)

"""What the filter says of a posting: the one hard rejection, or the strikes; and any opening at all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from tests.apps.jobs.opening import PORTLAND, RULES, TODAY, opening, pay, profile
from thresher.apps.jobs.filtering.filter import Judgement, judge
from thresher.apps.jobs.filtering.rejection import Rules
from thresher.apps.jobs.person.wants import Profile
from thresher.hiring.opening import Experience, Level, Opening, Spot, Workplace

BERLIN = Spot("Berlin, Germany", "Berlin", None, "DE")
MAINE = Spot("Portland, ME", "Portland", "ME", "US")
COUNTRY = Spot("United States", None, None, "US")
PIECES = [
    "security clearance required",
    "no security clearance",
    "commission only",
    "rockstar",
    "sales team",
    "join",
    "Java",
    "Python",
    "COBOL",
    "junior",
    "senior",
    "$90k",
    "$200,000 a year",
    "5+ years of experience",
    "remote",
    "hybrid",
    "on-site",
    "Portland, OR",
    "not",
    "no",
    "without",
    ".",
    "\n",
    ",",
    ":",
    "İstanbul",
    "ß",
    "\x00",
    "\ud800",
    "\u2019",
    "401k",
    "25 years in business",
    "Security Clearance",
    "ninja",
]
PROSE = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join) | st.text(max_size=100)
DATES = st.none() | st.dates(TODAY - timedelta(days=12), TODAY + timedelta(days=2)) | st.dates()
AMOUNTS = st.none() | st.integers(0, 400_000)
SPOTS = st.sampled_from([PORTLAND, MAINE, BERLIN, COUNTRY, Spot("Remote", remote=True), Spot("")])


def judged(
    said: Opening | None = None, who: Profile | None = None, rules: Rules = RULES, **facts: Any
) -> Judgement:
    return judge(said or opening(**facts), who or profile(), rules, TODAY)


@st.composite
def openings(draw: Callable[..., Any]) -> Opening:
    """Facts in any combination, however little they belong together."""
    return Opening(
        draw(st.text(max_size=5)),
        draw(PROSE),
        draw(PROSE),
        draw(st.none() | PROSE),
        draw(st.none() | PROSE),
        draw(DATES),
        draw(st.none() | st.builds(pay, AMOUNTS, AMOUNTS, st.sampled_from(["USD", "EUR", None]), PROSE)),
        tuple(draw(st.lists(SPOTS, max_size=3))),
        draw(st.none() | st.sampled_from(Workplace)),
        draw(st.none() | st.sampled_from(Level)),
        draw(st.none() | st.builds(Experience, st.integers(-5, 50), st.none() | st.integers(-5, 50))),
        skills=tuple(draw(st.lists(st.sampled_from(["python", "java", "cobol", "rust", ""]), max_size=4))),
    )


def said_by(posting: Opening) -> str:
    """Everything that a posting says, one thing a line."""
    facts = [
        posting.title,
        posting.text,
        posting.company,
        posting.url,
        posting.posted and posting.posted.isoformat(),
    ]
    return "\n".join(
        each
        for each in [*facts, posting.pay and posting.pay.text, *(spot.text for spot in posting.spots)]
        if each
    )

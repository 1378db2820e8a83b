"""A posting and a person to try the filter and the score on. Tests name only what they are about."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from thresher.apps.jobs.filtering.rejection import Rules, usual_rules
from thresher.apps.jobs.person.wants import Profile, Rank, Skill
from thresher.apps.jobs.scoring.points import Points, usual_points
from thresher.hiring.opening import Opening, Pay, Spot

TODAY = date(2026, 2, 10)
RULES: Rules = usual_rules()
POINTS: Points = usual_points()
PORTLAND = Spot("Portland, OR", "Portland", "OR", "US")
TEXT = (
    "We build software for harbours and the people who work there. You will own services from the first sketch to production, "
    "write Python every day, review the work of others, and talk with the people who use what we make. We meet twice a year."
)


def opening(**said: Any) -> Opening:
    """An opening that nothing speaks against."""
    usual = {
        "key": "acme/1",
        "title": "Senior Software Engineer",
        "text": TEXT,
        "company": "Acme",
        "url": "https://acme.example/1",
    }
    return Opening(**{**usual, "skills": ("python",), **said})


def profile(**said: Any) -> Profile:
    """Somebody in Portland who writes Python."""
    skills = {
        "python": Skill(Rank.REQUIRED, 8),
        "postgresql": Skill(Rank.OK, 4),
        "java": Skill(Rank.STRIKE),
        "cobol": Skill(Rank.FAIL),
    }
    usual = {
        "city": "Portland",
        "region": "OR",
        "country": "US",
        "timezone": "America/Los_Angeles",
        "skills": skills,
    }
    return Profile(**{**usual, **said})


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def pay(low: int | None, high: int | None, currency: str | None = "USD", text: str = "salary") -> Pay:
    def exact(amount: int | None) -> Decimal | None:
        return None if amount is None else Decimal(amount)

    return Pay(text, exact(low), exact(high), currency, "year", low, high)

"""Links worth following: the few of a page's many that lead to more of what it is about."""

from dataclasses import dataclass

from thresher.reading.boards import recognise
from thresher.reading.company import careers_url
from thresher.reading.facts import Facts

MAX_LINKS = 300
ENOUGH_ROWS = 3


@dataclass(frozen=True, slots=True)
class Outlink:
    """An address, what its link says, and why it is worth a look."""

    url: str
    text: str
    why: str


def worth_following(facts: Facts) -> tuple[Outlink, ...]:
    """Links to openings first, then boards, then the rows of the page."""
    found: dict[str, Outlink] = {}
    if careers := careers_url(facts.document):
        found[careers] = Outlink(careers, "", "careers")
    for group in facts.groups:
        for card in group.cards:
            if card.url.startswith(("http://", "https://")) and len(found) < MAX_LINKS:
                why = (
                    "board"
                    if recognise(card.url)
                    else "row"
                    if len(group.cards) >= ENOUGH_ROWS and not card.aside
                    else ""
                )
                if why:
                    found.setdefault(card.url, Outlink(card.url, card.title, why))
    return tuple(found.values())

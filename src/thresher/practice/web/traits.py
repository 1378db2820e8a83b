"""What a company is like: its mission, its values, its stack, its offices. Drawn apart from the rest of it,
told on its pages, and known here, so that a test can ask what a careful reader should have found, and what
only looks like it.

Half of it is traps. A company that does not use React still "reacts to feedback", one without an office in
Portland, Oregon may have one in Maine or buy Portland cement, and one that is not remote-first says that too.
"""

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from thresher.practice.web.company import Company
from thresher.practice.web.draw import Draw
from thresher.practice.web.words import CITIES

City = tuple[str, str, str, str, str, int]
OREGON: City = ("Portland", "OR", "United States", "US", "USD", 125)
MAINE: City = ("Portland", "ME", "United States", "US", "USD", 96)
STATES = MappingProxyType({"OR": "Oregon", "ME": "Maine"})
# What things are written in, run on and kept in. The names are those that people use in prose.
STACK = (
    "Python",
    "TypeScript",
    "Java",
    "Go",
    "Rust",
    "Ruby",
    "PHP",
    "C#",
    "React",
    "Vue",
    "Angular",
    "Django",
    "Docker",
    "Kubernetes",
    "AWS",
    "PostgreSQL",
    "MySQL",
    "Redis",
    "Kafka",
    "Terraform",
    "PyTorch",
)
INDUSTRIES = (
    "Financial services",
    "Health care",
    "Logistics",
    "Energy",
    "Education",
    "Manufacturing",
    "Software",
    "Travel",
    "Agriculture",
)
MISSIONS = (
    "to make {trade} that anybody can rely on",
    "to bring honest {trade} to every town",
    "to waste less, one customer after another",
    "to give small companies the tools that only large ones had",
)
CULTURES = (
    "We write things down, decide in small groups and change our minds when the numbers do.",
    "We value plain words, kept promises and people who ask why, and nobody here is paid for looking busy.",
    "Teams own what they build, mistakes are told aloud, and a good argument counts for more than a title.",
)
VALUES = (
    "Finish what you start",
    "Say what you see",
    "Leave it better",
    "Share the credit",
    "Keep it simple",
    "Be kind to others",
)
REMOTE_FIRST = (
    "We are a remote-first company",
    "Everybody here works remotely, and always has",
    "Remote-first since the first day",
)
NOT_REMOTE = (
    "We are not a remote company: we like to meet",
    "Our sensors are read from remote valleys",
    "Remote work is the exception here",
)
AI_FOCUS = (
    "Machine learning is at the heart of what we build",
    "Artificial intelligence reads every meter before a person does",
    "Our own AI models plan every delivery",
)
# Words with the names of technologies and places inside them, said by everybody who does not use or have
# them.
TRAPS = MappingProxyType(
    {
        "React": "We react to every complaint within a day.",
        "Go": "We go home in time.",
        "Rust": "Our machines do not rust.",
        "Java": "The coffee in the kitchen comes from Java.",
    }
)
ALWAYS = "Our maintenance team sends its mail as plain HTML, and the main hall is open to visitors."
CEMENT = "The new hall stands on Portland cement."


@dataclass(frozen=True, slots=True)
class Traits:
    """What is true of a company. `tech` in the names people use; `offices` besides the headquarters; `traps`
    are sentences on its pages.
    """

    mission: str
    culture: str
    values: tuple[str, ...]
    size: int
    headquarters: str
    industry: str
    founded: int
    tech: tuple[str, ...]
    remote_first: bool
    remote_words: str
    ai_focus: bool
    ai_words: str
    offices: tuple[City, ...]
    traps: tuple[str, ...]

    @property
    def in_portland(self) -> bool:
        """Portland in Oregon, which is the one that is meant."""
        return OREGON in self.offices


@lru_cache(4_096)
def traits(seed: int, who: Company) -> Traits:
    """What this company is like under this seed."""
    draw = Draw(seed, "traits", who.token)
    tech = tuple(draw.some(STACK, draw.between(3, 7))) if draw.chance(80) else ()
    remote, ai = draw.chance(30), draw.chance(25)
    portland = draw.below(10)
    offices = tuple(each for each in draw.some(CITIES, draw.below(3)) if each != who.city)
    offices += {0: (OREGON,), 1: (OREGON,), 2: (MAINE,)}.get(portland, ())
    traps = [sentence for name, sentence in TRAPS.items() if name not in tech and draw.chance(60)]
    traps += [CEMENT] if portland in (3, 4) else []
    return Traits(
        mission=f"Our mission is {draw.pick(MISSIONS).format(trade=who.trade)}.",
        culture=draw.pick(CULTURES),
        values=tuple(draw.some(VALUES, 3)),
        size=who.staff,
        headquarters=f"{who.city[0]}, {who.city[2]}",
        industry=draw.pick(INDUSTRIES),
        founded=who.founded,
        tech=tech,
        remote_first=remote,
        remote_words=draw.pick(REMOTE_FIRST if remote else NOT_REMOTE),
        ai_focus=ai,
        ai_words=draw.pick(AI_FOCUS) if ai else "",
        offices=offices,
        traps=(*traps, ALWAYS),
    )


def office_text(city: City) -> str:
    """A place as a company writes it: with its state where the name alone could be another."""
    return f"{city[0]}, {STATES[city[1]]}" if city[1] in STATES else city[0]

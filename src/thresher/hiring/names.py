"""Names of companies, taken apart: the words that set one company apart from another, and those that many
share.

A name is compared word by word, both ways: what share of the one the other covers. "Maple Bank" covers half
of "Maple Water" and has a word of its own, so it is another company; "Maplewater, Inc." covers all of it and
nothing else.
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from thresher.reading.values.addresses import registered_domain

MAX_LENGTH = 200  # characters of a name that are looked at
MAX_WORDS = 12
MIN_LENGTH = 3  # letters: two name many companies
_NOT_WORDS = re.compile(r"[\W_]+")
_DOTTED = re.compile(r"(?<!\w)((?:\w\.){2,6}\w?)(?!\w)")  # "B.V.", "S.p.A.", "U.S."
_SLASHED = re.compile(r"(?<!\w)(\w)/(\w)(?!\w)")  # "A/S"
_ARTICLE = re.compile(r"\W*the\b")
_APOSTROPHE = re.compile(r"['’`´]")
# Letters that have no accent to take off.
_LETTERS = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
# What a company is in law, and what stands around its name.
FORMS = frozenset(
    (
        "ab",
        "ag",
        "aps",
        "as",
        "asa",
        "bv",
        "bvba",
        "co",
        "corp",
        "corporation",
        "company",
        "cv",
        "doo",
        "eg",
        "ev",
        "gbr",
        "gmbh",
        "group",
        "holding",
        "holdings",
        "inc",
        "incorporated",
        "kft",
        "kg",
        "kgaa",
        "kk",
        "limited",
        "llc",
        "llp",
        "lp",
        "ltd",
        "ltda",
        "mbh",
        "nv",
        "oy",
        "oyj",
        "plc",
        "pte",
        "pty",
        "pvt",
        "sa",
        "sarl",
        "sas",
        "sasu",
        "se",
        "sl",
        "slu",
        "spa",
        "sro",
        "srl",
        "ug",
        "zoo",
        "the",
        "and",
        "und",
        "et",
        "y",
        "e",
        "of",
        "for",
        "at",
        "a",
    )
)
# What boards add to the name of their company.
_OF_BOARDS = frozenset(
    (
        "career",
        "careers",
        "current",
        "hiring",
        "job",
        "jobs",
        "open",
        "opening",
        "openings",
        "position",
        "positions",
        "recruiting",
        "recruitment",
        "role",
        "roles",
        "team",
        "vacancies",
        "work",
        "karriere",
        "stellen",
        "stellenangebote",
    )
)
# Parts of the world: a branch of a company adds them, and another company may, too.
_PLACES = frozenset(
    (
        "africa",
        "america",
        "americas",
        "apac",
        "asia",
        "australia",
        "austria",
        "belgium",
        "brazil",
        "canada",
        "china",
        "denmark",
        "dach",
        "deutschland",
        "emea",
        "eu",
        "europe",
        "finland",
        "france",
        "germany",
        "global",
        "iberia",
        "india",
        "international",
        "intl",
        "ireland",
        "italy",
        "japan",
        "latam",
        "mexico",
        "na",
        "netherlands",
        "nordic",
        "nordics",
        "norway",
        "pacific",
        "poland",
        "portugal",
        "singapore",
        "spain",
        "sweden",
        "switzerland",
        "uk",
        "us",
        "usa",
        "worldwide",
    )
)
# Words that a great many names are made of: alone, or among themselves, they name nobody.
COMMON = (
    FORMS
    | _OF_BOARDS
    | _PLACES
    | frozenset(
        (
            "academy",
            "advanced",
            "agency",
            "agentur",
            "ai",
            "alliance",
            "alpha",
            "american",
            "analytics",
            "app",
            "apps",
            "associates",
            "association",
            "bank",
            "bau",
            "best",
            "beta",
            "bio",
            "biotech",
            "blue",
            "business",
            "capital",
            "care",
            "center",
            "central",
            "centre",
            "city",
            "clinic",
            "cloud",
            "college",
            "commerce",
            "community",
            "consulting",
            "core",
            "creative",
            "data",
            "delta",
            "dental",
            "design",
            "dev",
            "devices",
            "digital",
            "direct",
            "dynamics",
            "east",
            "eastern",
            "education",
            "electric",
            "energy",
            "engineering",
            "enterprise",
            "enterprises",
            "environmental",
            "express",
            "federal",
            "finance",
            "financial",
            "first",
            "food",
            "foods",
            "foundation",
            "free",
            "freight",
            "fund",
            "future",
            "games",
            "general",
            "gmbh",
            "go",
            "good",
            "great",
            "green",
            "gruppe",
            "haus",
            "health",
            "healthcare",
            "hello",
            "home",
            "hospital",
            "hotel",
            "hotels",
            "house",
            "hr",
            "hub",
            "industrial",
            "industries",
            "info",
            "innovation",
            "innovations",
            "institute",
            "instruments",
            "insurance",
            "integrated",
            "interactive",
            "investments",
            "it",
            "lab",
            "labs",
            "law",
            "learning",
            "life",
            "link",
            "live",
            "local",
            "logistics",
            "main",
            "management",
            "manufacturing",
            "market",
            "marketing",
            "media",
            "medical",
            "metro",
            "mobile",
            "mobility",
            "my",
            "national",
            "net",
            "network",
            "networks",
            "new",
            "next",
            "north",
            "northern",
            "nova",
            "office",
            "omega",
            "on",
            "one",
            "online",
            "optics",
            "our",
            "partner",
            "partners",
            "pay",
            "payments",
            "people",
            "pharma",
            "platform",
            "plus",
            "point",
            "power",
            "premier",
            "prime",
            "pro",
            "products",
            "professional",
            "project",
            "public",
            "quality",
            "red",
            "regional",
            "research",
            "resources",
            "retail",
            "robotics",
            "royal",
            "school",
            "science",
            "sciences",
            "secure",
            "security",
            "select",
            "service",
            "services",
            "shop",
            "site",
            "smart",
            "social",
            "software",
            "solar",
            "solution",
            "solutions",
            "south",
            "southern",
            "space",
            "stadt",
            "staffing",
            "standard",
            "star",
            "state",
            "store",
            "strategic",
            "studio",
            "studios",
            "summit",
            "super",
            "support",
            "system",
            "systems",
            "talent",
            "tech",
            "technik",
            "technologies",
            "technology",
            "test",
            "total",
            "trade",
            "trading",
            "training",
            "transport",
            "travel",
            "trust",
            "union",
            "united",
            "universal",
            "university",
            "us",
            "ventures",
            "water",
            "web",
            "welt",
            "west",
            "western",
            "works",
            "world",
            "www",
            "your",
        )
    )
)


class Likeness(StrEnum):
    """How two names stand to each other."""

    SAME = "same"
    KIN = "kin"  # they share what sets names apart, and one of them has more to it
    BRANCH = "branch"  # the same, but for a part of the world
    OTHER = "other"
    UNCLEAR = "unclear"  # nothing to compare, or nothing in it that sets a company apart


@dataclass(frozen=True, slots=True)
class Likening:
    """How two names stand to each other, and how many words of each stand in the other."""

    likeness: Likeness
    shared: int = 0
    wanted: int = 0
    found: int = 0


def fold(name: str) -> str:
    """A name without case and accents."""
    bare = unicodedata.normalize("NFKD", name[:MAX_LENGTH].lower().translate(_LETTERS))
    return "".join(char for char in bare if not unicodedata.combining(char))


def name_words(name: str, *, board: bool = False) -> tuple[str, ...]:
    """The words of a name without the form of the company; of a board's name, also without what boards add to
    it.
    """
    text = _SLASHED.sub(
        r"\1\2", _DOTTED.sub(lambda match: match[1].replace(".", ""), _APOSTROPHE.sub("", fold(name)))
    )
    words = [word for word in _NOT_WORDS.split(text) if word][:MAX_WORDS]
    kept = [word for word in words if word not in FORMS] or words
    return tuple(word for word in kept if not (board and word in _OF_BOARDS))


def label_of(host: str) -> str:
    """Return the name part of a domain: `acme` for www.acme.co.uk. Empty for an IP address."""
    domain = registered_domain(host)
    labels = host.rstrip(".").split(".")
    if domain is None and (len(labels) < 2 or labels[-1].isdecimal() or host.startswith("[")):
        return ""
    return domain.partition(".")[0] if domain else labels[-2]


def sets_apart(words: tuple[str, ...]) -> bool:
    """Whether these words name one company: together three letters or more, and not all of them words that
    many share.
    """
    return len("".join(words)) >= MIN_LENGTH and any(word not in COMMON and len(word) > 1 for word in words)


def liken(wanted: str | None, found: str | None) -> Likening:
    """How the name that a board gives itself stands to the one that is looked for."""
    ours, theirs = name_words(wanted or ""), name_words(found or "", board=True)
    if not ours or not theirs:
        return Likening(Likeness.UNCLEAR)
    shared = len(set(ours) & set(theirs))
    how = Likening(Likeness.OTHER, shared, len(set(ours)), len(set(theirs)))
    if "".join(ours) == "".join(theirs):
        return _as(how, _same(ours, wanted or "", found or ""))
    if _abroad(ours) and _abroad(ours) == _abroad(theirs):
        return _as(how, Likeness.BRANCH if sets_apart(ours) else Likeness.UNCLEAR)
    return _as(how, Likeness.KIN if _akin(ours, theirs) else Likeness.OTHER)


def _same(words: tuple[str, ...], wanted: str, found: str) -> Likeness:
    """Names of the same words. Of one word alone, an article makes another name: Hive and The Hive are two
    companies.
    """
    if not sets_apart(words):
        return Likeness.UNCLEAR
    articles = {bool(_ARTICLE.match(fold(name))) for name in (wanted, found)}
    return Likeness.BRANCH if len(words) == 1 and len(articles) == 2 else Likeness.SAME


def _as(how: Likening, likeness: Likeness) -> Likening:
    return Likening(likeness, how.shared, how.wanted, how.found)


def _abroad(words: tuple[str, ...]) -> str:
    return "".join(word for word in words if word not in _PLACES)


def _akin(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether they share a word that sets companies apart, also where one of them writes its words
    together.
    """
    if any(word not in COMMON and len(word) >= MIN_LENGTH for word in set(ours) & set(theirs)):
        return True
    shorter, longer = sorted(("".join(ours), "".join(theirs)), key=len)
    return len(shorter) > MIN_LENGTH and shorter not in COMMON and longer.startswith(shorter)

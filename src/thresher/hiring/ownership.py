"""Whose board is it? Proof that a board belongs to a company, from what the board itself shows, and how
confident that makes us.

    it stands on the company's own site             proven
    the company's own page leads to it              proven, unless the board names somebody else altogether
    its postings lead to the company's own site     proven
    it declares the company's site as its owner's   proven, unless it calls itself otherwise
    it declares another site as its owner's         not the company's
    it calls itself as the company does             likely: names are given twice
    it calls itself otherwise                       not the company's, whatever its token says
    it does not say                                 nothing is known

A token proves nothing: whoever guessed it made it of the company's name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from thresher.core.errors import InvalidUrl
from thresher.hiring.names import Likeness, Likening, label_of, liken
from thresher.reading.platforms.boards import recognise
from thresher.reading.platforms.platform import Confidence
from thresher.reading.values.addresses import Address, read_address

MAX_NAMES = 50
MAX_SITES = 200
MAX_URL = 200  # characters of an address in a sentence
# A path that is still the front page: none, a language, an index.
_FRONT = re.compile(r"/(?:(?:[a-z]{2}(?:[-_][a-z]{2,4})?|home|index(?:\.\w{1,5})?)/?)?", re.IGNORECASE)


class Strength(StrEnum):
    """How much a proof is worth."""

    PROVEN = "proven"
    LIKELY = "likely"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Proof:
    """What speaks for it, in a sentence. `contradicted`: something on the board speaks against it."""

    sentence: str
    strength: Strength = Strength.NONE
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class WantedCompany:
    """The company that a board should belong to, as far as it is known."""

    name: str | None = None
    website: str | None = None

    @property
    def is_known(self) -> bool:
        return bool(self.name or self.website)


@dataclass(frozen=True, slots=True)
class Signs:
    """What a board shows of its owner: `names` it and its postings give, `sites` they lead to, `pages` that
    lead to it.

    `at` is where the board itself stands, if that is nobody's platform. `homes` are what it declares to be
    its owner's site: a word only, for anybody can write it. `guess` is the token, where it was guessed.
    """

    names: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    at: str | None = None
    guess: str | None = None


class _Home(NamedTuple):
    host: str
    path: str


def prove(wanted: WantedCompany, signs: Signs) -> Proof:
    """Whether the board with these signs is the wanted company's. Of two proofs, the better."""
    if not wanted.is_known:
        return Proof("no company was given to compare it with")
    home = _home(wanted.website)
    if signs.at and _first_at(home, (signs.at,)):
        return Proof(f"it is on the company's own site, {signs.at}", Strength.PROVEN)
    name, how = _closest(wanted, signs.names)
    # A board of many companies may well have a posting that leads to this one: then a site proves only that
    # posting.
    many = how.likeness is Likeness.OTHER and len(set(signs.names)) > 1
    if not many and (site := _first_at(home, signs.sites)):
        return Proof(f"its postings link to {site}, the company's own site", Strength.PROVEN)
    if page := _first_at(home, signs.pages):
        return _by_page(wanted, page, name, how)
    return (_by_home(wanted, home, signs, name, how) if home else None) or _by_name(
        wanted, name, how, signs.guess
    )


def stands_on(website: str | None, url: str) -> bool:
    """Whether an address belongs to the site of a company: on its host or below it, and under its path if it
    has only a corner.
    """
    home = _home(website)
    return home is not None and _is_at(home, url)


def _by_page(wanted: WantedCompany, page: str, name: str | None, how: Likening) -> Proof:
    if name and how.likeness is Likeness.OTHER and not _is_label(wanted.website, name):
        said = (
            f'{page} links to it, but it calls itself "{name}", which shares nothing with {_called(wanted)}'
        )
        return Proof(said, Strength.LIKELY, contradicted=True)
    return Proof(f"the company's own page {page} links to it", Strength.PROVEN)


def _by_home(
    wanted: WantedCompany, home: _Home, signs: Signs, name: str | None, how: Likening
) -> Proof | None:
    """Compare the declared site of the owner: ours, and the name does not contradict; or another
    company's.
    """
    fronts = [
        url
        for url in signs.homes[:MAX_SITES]
        if (address := _address(url)) and _FRONT.fullmatch(address.pathname)
    ]
    if site := _first_at(home, signs.homes):
        if name and how.likeness in (Likeness.KIN, Likeness.OTHER):
            said = f'it declares {site} as its owner\'s site, but calls itself "{name}"'
            return Proof(said, Strength.LIKELY, contradicted=True)
        return Proof(f"it declares {site} as its owner's site, which is the company's", Strength.PROVEN)
    if fronts and home.path == "/":
        return Proof(
            f"it declares {fronts[0]} as its owner's site, which is not that of {_called(wanted)}",
            contradicted=True,
        )
    return None


def _by_name(wanted: WantedCompany, name: str | None, how: Likening, guess: str | None) -> Proof:
    if name is None:
        return Proof("nothing on it says who owns it")
    home = _home(wanted.website)
    if home is not None and _is_domain(name):
        return _by_domain(wanted, home, name)
    said = f'it calls itself "{name}"'
    covers = f"which covers {how.shared} of {how.wanted} words of {_called(wanted)} and has {how.found - how.shared} of its own"
    match how.likeness:
        case Likeness.SAME if (
            home and guess and guess.lower() not in (label_of(home.host), home.host.replace(".", ""))
        ):
            # Companies of one name choose tokens that differ by a hyphen. The one that is not the company's
            # own label is the other's.
            said += f", as the company does, but the token {guess} is not that of {home.host}: another company may have the same name"
            return Proof(said, contradicted=True)
        case Likeness.SAME:
            return Proof(f"{said}, as the company does", Strength.LIKELY)
        case Likeness.BRANCH:
            return Proof(f"{said}, which may be a branch of {_called(wanted)}, or another company")
        case Likeness.UNCLEAR:
            return Proof(f"{said}, which many companies could")
        case Likeness.KIN:
            return Proof(f"{said}, {covers}: a namesake until it is proven otherwise", contradicted=True)
        case Likeness.OTHER:
            return Proof(f"{said}, {covers}", contradicted=True)


def _by_domain(wanted: WantedCompany, home: _Home, name: str) -> Proof:
    """A board that calls itself by a domain says whose it is more clearly than by a name."""
    if home.path == "/" and _is_at(home, f"https://{name.strip()}/"):
        return Proof(f'it calls itself "{name}", which is the company\'s own site', Strength.PROVEN)
    return Proof(f'it calls itself "{name}", which is not the site of {_called(wanted)}', contradicted=True)


def _closest(wanted: WantedCompany, names: Iterable[str]) -> tuple[str | None, Likening]:
    """The name that decides: the worst of those given, for a board that also lists others' openings is not
    the company's alone.

    Branches and names that set nobody apart stand beside the company's own name without harm.
    """
    found = [
        (name, liken(wanted.name, name))
        for name in list(dict.fromkeys(name for name in names if name.strip()))[:MAX_NAMES]
    ]
    ranks = (Likeness.OTHER, Likeness.KIN, Likeness.SAME, Likeness.BRANCH, Likeness.UNCLEAR)
    return min(
        found, key=lambda each: ranks.index(each[1].likeness), default=(None, Likening(Likeness.UNCLEAR))
    )


def _called(wanted: WantedCompany) -> str:
    return f'"{wanted.name}"' if wanted.name else wanted.website or "the company"


def _is_domain(name: str) -> bool:
    """Whether a name is written as a domain: `jerry.ai`."""
    text = name.strip().lower()
    if "." not in text.strip(".") or " " in text or text.endswith("."):
        return False
    try:
        return read_address(f"https://{text}/").domain == text
    except InvalidUrl:
        return False


def _is_label(website: str | None, name: str) -> bool:
    """Whether a name has something of the company's domain: `GrowBig Holdings` and growbig.example."""
    home = _home(website)
    return liken(label_of(home.host) if home else "", name).likeness in (
        Likeness.SAME,
        Likeness.KIN,
        Likeness.BRANCH,
    )


def _home(website: str | None) -> _Home | None:
    """Return the start of a company's own site. A platform's page is not a company's own site."""
    address = _address(website or "")
    if address is None or recognise(address.href):
        return None
    return _Home(
        _bare(address.hostname), "/" if _FRONT.fullmatch(address.pathname) else address.pathname.rstrip("/")
    )


def _first_at(home: _Home | None, urls: Iterable[str]) -> str | None:
    """The first address on the company's site."""
    return (
        next((url[:MAX_URL] for url in list(urls)[:MAX_SITES] if _is_at(home, url)), None) if home else None
    )


def _is_at(home: _Home, url: str) -> bool:
    address = _address(url)
    if address is None:
        return False
    host = _bare(address.hostname)
    if home.path != "/":  # a corner of a site that many share: only that corner is the company's
        return host == home.host and f"{address.pathname}/".startswith(f"{home.path}/")
    return host == home.host or host.endswith(f".{home.host}")


def _bare(host: str) -> str:
    return host.rstrip(".").lower().removeprefix("www.")


def _address(url: str) -> Address | None:
    try:
        address = read_address(url)
    except InvalidUrl:
        return None
    return address if address.protocol in ("http:", "https:") and address.hostname else None


# How sure we are of a board, and what follows: high goes to work at once, medium and low wait for a person.

__all__ = ["Confidence", "Method", "Standing", "accepts", "confidence", "standing"]


class Method(StrEnum):
    """How a board was found: by its address, on a page of the company's, or by trying names."""

    URL = "url"
    PAGE = "page"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Standing:
    """What becomes of a board: how sure we are of it, its status, and whether it is the company's."""

    confidence: Confidence
    status: str
    validation_required: bool
    is_theirs: bool


def accepts(method: Method, proof: Proof) -> bool:
    """Whether it may be written down at all. A guess that something speaks against is a stranger's board."""
    return method is not Method.GUESS or not proof.contradicted


def confidence(method: Method, platform: Confidence, proof: Proof, *, named: bool) -> Confidence:
    """How sure we are of a board that answered. `platform` is what its platform is good for; `named`: a
    company was.
    """
    if platform is Confidence.LOW or (proof.contradicted and proof.strength is Strength.NONE):
        return Confidence.LOW
    if method is Method.GUESS:
        return Confidence.LOW if proof.strength is Strength.NONE else Confidence.MEDIUM
    unsure = proof.contradicted or (named and proof.strength is Strength.NONE)
    return Confidence.MEDIUM if unsure else platform


def standing(found: Confidence, proof: Proof, *, auto_enable: bool, validation_required: bool) -> Standing:
    """Decide what follows. Only a high confidence starts work automatically, and only if no second look was
    requested.
    """
    waits = found is not Confidence.HIGH or validation_required
    is_theirs = not (proof.contradicted and proof.strength is Strength.NONE)
    return Standing(found, "pending" if waits or not auto_enable else "active", waits, is_theirs)

"""How sure we are of a board, and what follows: high goes to work at once, medium and low wait for a person.

    high      an address or a page of the company's named it, it answers, and nothing speaks against its owner
    medium    the platform needs testing, its owner is not sure, or it was guessed and its name proves it
    low       guessed without a name, a page of no platform, or given for a company that it does not name

A person's word overrules all of it.
"""

from dataclasses import dataclass
from enum import StrEnum

from thresher.hiring.ownership import Proof, Strength
from thresher.reading.platforms.platform import Confidence

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
    """What follows. Only a high confidence, and only where nobody asked for a second look, starts work by
    itself.
    """
    waits = found is not Confidence.HIGH or validation_required
    is_theirs = not (proof.contradicted and proof.strength is Strength.NONE)
    return Standing(found, "pending" if waits or not auto_enable else "active", waits, is_theirs)

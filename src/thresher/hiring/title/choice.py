"""Which of the roles that lie near a title is meant, if any: near enough, and nothing in the words speaks
against it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.hiring.title.guard import apart

LOOKED_AT = 10  # neighbours of a title


@dataclass(frozen=True, slots=True)
class Choice:
    """`role` is the one that is meant; None, and then `nearest` is what came nearest. `reason` says why, for
    a person.
    """

    role: Neighbour | None
    nearest: Neighbour | None
    reason: str


def choose(core: str, near: Sequence[Neighbour], least: float) -> Choice:
    """The nearest that is near enough and not another role; `near` is in order, the nearest first."""
    refused = ""
    for each in near:
        if each.score < least:
            break
        why = apart(core, core_of(each.name), meaning=each.meaning)
        if why is None:
            return Choice(
                each, near[0], f"{each.name!r} is near enough: {each.score:.3f} of at least {least:g}"
            )
        refused = refused or f"{each.name!r} is near ({each.score:.3f}) and another role: {why}"
    if refused or not near:
        return Choice(None, near[0] if near else None, refused or "no role that is known comes near")
    return Choice(
        None,
        near[0],
        f"the nearest role, {near[0].name!r}, is too far: {near[0].score:.3f} of at least {least:g}",
    )

"""Who a candidate is: by the id that was given, else by the email address, else by the name. Nobody is
written down twice by accident.

An address belongs to one candidate. Who comes with an address that is known is that candidate, under whatever
key it is kept. An id says more than an address: where the two say different things, somebody has to decide,
and is told the id of the other. A name says the least: many people may have the same one. So where one of two
namesakes is known by nothing but the name, it is not guessed whether they are one; only an id says so, or
says that they are not.
"""

from collections.abc import Collection, Mapping, Sequence

from thresher.control.candidate import By, Given, person_name_key
from thresher.core.errors import NotAllowed, UsageError
from thresher.store.roles.people import bearers, there
from thresher.store.session import Dialect, Session

EMAIL, NAME = "email", "name_key"
MARKS = (NAME, EMAIL)  # what a candidate is found by
MAX_TOLD = 20


def recognize(
    dialect: Dialect, session: Session, given: Sequence[Given], ours: Collection[str] = ()
) -> list[Given]:
    """The same candidates, each under the key by which it is known here. Raises `NotAllowed` if one may be
    somebody else.

    `ours` are keys that came along with these: whoever lists two namesakes side by side means two people.
    """
    owners = bearers(dialect, session, EMAIL, {word for each in given for word in _addresses(each)})
    namesakes = _namesakes(
        dialect, session, [each for each in given if each.by is not By.ID and each.email not in owners]
    )
    problems = [
        why
        for each in given
        if (why := _problem(each, owners, namesakes.get(each.key, each.key), ours)) is not None
    ]
    if problems:
        more = f"; and {len(problems) - MAX_TOLD:,} more" if len(problems) > MAX_TOLD else ""
        raise NotAllowed(f"{'; '.join(problems[:MAX_TOLD])}{more}. Nothing was added.")
    found = [
        each.under(owners[each.email]) if each.by is By.EMAIL and each.email in owners else each
        for each in given
    ]
    check_once(found)
    return found


def _namesakes(dialect: Dialect, session: Session, given: Sequence[Given]) -> dict[str, str]:
    """Of those who are new, who of the same name is known: by nothing but that name, or, where these have no
    more than it, at all.
    """
    names = {each.key: person_name_key(each.candidate.name) for each in given}
    known = there(dialect, session, {*names, *names.values()})
    new = [each for each in given if each.key not in known]
    others = bearers(dialect, session, NAME, {each.key for each in new if each.by is By.NAME})
    return others | {each.key: names[each.key] for each in new if names[each.key] in known}


def check_once(given: Sequence[Given]) -> None:
    """Raise `UsageError` if two of these are the same: nobody knows which of them is meant."""
    seen: set[str] = set()
    for each in given:
        words = {each.key, each.email or each.key}
        if words & seen:
            who = each.key if each.key in seen else each.email
            raise UsageError(
                f"the candidate {who!r} is there twice; give each an id or an email of its own. Nothing was added."
            )
        seen |= words


def _addresses(given: Given) -> set[str]:
    """What this candidate says is its address. An id may be one, too."""
    return {word for word in (given.email, given.key.casefold()) if word and "@" in word}


def _problem(given: Given, owners: Mapping[str, str], namesake: str, ours: Collection[str]) -> str | None:
    """Why it cannot be said who this is."""
    if given.by is By.ID:
        other = next(
            (
                (word, owners[word])
                for word in sorted(_addresses(given))
                if owners.get(word, given.key) != given.key
            ),
            None,
        )
        if other is not None:
            word, key = other
            return f"{word!r} is the email of the candidate {key!r}, not of {given.key!r}; say {key!r} to change it, or remove it first"
    if namesake != given.key and namesake not in ours:
        return f"a candidate named {given.candidate.name!r} is known as {namesake!r}; give that id if it is the same, else an id of its own"
    return None

"""Ask a board who owns it: by its list, then by its own name, then by the page of one posting, as far as
needed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from thresher.apps.jobs.discovery.trial import Candidate, Hand, Trial
from thresher.core.errors import Blocked, Permanent, Unauthorized
from thresher.core.keys import parse
from thresher.core.page import Page
from thresher.hiring.names import Likeness, liken
from thresher.hiring.ownership import Method, Proof, Signs, Strength, WantedCompany, prove
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import owner_call, owner_name
from thresher.reading.structured.facts import Facts

MAX_NAMES = 50


@dataclass(frozen=True, slots=True)
class Owner:
    """What is known of a board's owner: what it calls itself, and the proof that it is the one we look
    for.
    """

    name: str | None
    proof: Proof


async def owner_of(
    hand: Hand, candidate: Candidate, seen: Trial, wanted: WantedCompany, *, max_age: float
) -> Owner:
    """Whose board it is. Each further question is asked only while nothing is proven; of a guess, also where
    only its name fits.
    """
    signs = _in_list(candidate, seen)
    proof = prove(wanted, signs)
    if proof.strength is Strength.NONE and (name := await _own_name(hand, candidate.board, seen, max_age)):
        signs = replace(signs, names=(name, *signs.names))
        proof = prove(wanted, signs)
    unsure = proof.strength is Strength.NONE or (
        candidate.method is Method.GUESS and proof.strength is Strength.LIKELY
    )
    if wanted.is_known and unsure and (page := await _one_posting(hand, seen, max_age)):
        signs = await hand.compute(_with_page, signs, page)
        proof = prove(wanted, signs)
    return Owner(_agreed(signs.names), proof)


def _in_list(candidate: Candidate, seen: Trial) -> Signs:
    names = dict.fromkeys(posting.company for posting in seen.postings if posting.company)
    sites = [posting.url for posting in seen.postings if posting.url and recognise(posting.url) is None]
    at = candidate.board.url if candidate.board.token is None else None
    pages = (candidate.page,) if candidate.page else ()
    guess = candidate.board.token if candidate.method is Method.GUESS else None
    return Signs(tuple(names)[:MAX_NAMES], tuple(sites), pages, at=at, guess=guess)


async def _own_name(hand: Hand, board: Board, seen: Trial, max_age: float) -> str | None:
    call = owner_call(board)
    if call is None:
        return None
    if call.url == seen.url and seen.page:
        return await hand.compute(_name_in, board, seen.page)
    try:
        page = await hand.fetch(
            call.url, method=call.method, headers=call.headers, body=call.body, max_age=max_age
        )
    except (Permanent, Blocked, Unauthorized):
        return None  # not to be told is not to be contradicted
    if parse(page.final_url).hostname != parse(call.url).hostname:
        return None
    return await hand.compute(_name_in, board, page)


def _name_in(board: Board, page: Page) -> str | None:
    body = read_body(page)
    return owner_name(board, body.text if body.format is Format.HTML else body.data)


async def _one_posting(hand: Hand, seen: Trial, max_age: float) -> Page | None:
    url = next(
        (
            posting.url
            for posting in seen.postings
            if posting.url and posting.url.startswith(("http://", "https://"))
        ),
        None,
    )
    try:
        return await hand.fetch(url, max_age=max_age) if url else None
    except (Permanent, Blocked, Unauthorized):
        return None


def _with_page(signs: Signs, page: Page) -> Signs:
    """Who hires, as the page of a posting declares it, and where the posting really leads."""
    things = Facts(read_body(page).document).structured.of("JobPosting")
    hiring = [each for thing in things if (each := thing.mapping("hiringOrganization"))]
    names = [text for each in hiring for text in _texts(each, "name")]
    homes = [text for each in hiring for text in _texts(each, "sameAs", "url")]
    return replace(
        signs,
        names=(*signs.names, *names[:MAX_NAMES]),
        sites=(page.final_url, *signs.sites),
        homes=tuple(homes),
    )


def _texts(said: Mapping[str, Any], *names: str) -> Iterator[str]:
    for name in names:
        value = said.get(name)
        yield from (text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str))


def _agreed(names: tuple[str, ...]) -> str | None:
    """The name that a board gives itself; None where it gives several that are not the same."""
    first = next(iter(names), None)
    return (
        first
        if first and all(liken(first, other).likeness is not Likeness.OTHER for other in names)
        else None
    )

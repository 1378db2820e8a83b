"""Parse what a scraper reports about its search: the platform, whether it was complete, and how it ended.

Nothing found is not nothing there. Without postings, a search counts as empty only with proof; otherwise its
result is unknown, and the role is searched again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.roles.arrival import MAX_PLATFORM, platform_name
from thresher.apps.roles.turns import Verdict
from thresher.core.errors import InvalidPayload, InvalidUrl, UsageError
from thresher.core.keys import canonical_url
from thresher.reading.verdict.emptiness import says_none

MAX_TOKEN = 200
MAX_VERDICTS = 100
MAX_SHOWN = 200
SAID = (Verdict.FOUND, Verdict.EMPTY, Verdict.BLOCKED, Verdict.FAILED)
PROOF = (
    'an empty result needs a proof: {"url": ..., "says": the sentence on that page that says there '
    'are no results}, or {"url": ..., "control": {"query": ..., "results": the number of results '
    "of a search that always finds some}}"
)


@dataclass(frozen=True, slots=True)
class Report:
    """`platform` is that of postings which name none. Without `complete` more will come, and the session goes
    on.
    """

    session_id: str
    platform: str | None = None
    complete: bool = True
    verdict: Verdict | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    def where(self, platforms: Sequence[str]) -> str | None:
        """The platform of postings which name none, of a session on these platforms: what the body says, else
        the only one.
        """
        return self.platform or (platforms[0] if len(platforms) == 1 else None)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a session ended, and its look at each platform. For one that goes on: only what was said of its
    platforms.
    """

    verdict: Verdict | None
    verdicts: Mapping[str, Verdict]


def read_report(members: Mapping[str, Any]) -> Report:
    """The members of a POST beside its postings, checked."""
    token = members.get("session_id")
    if not token or not isinstance(token, str) or len(token) > MAX_TOKEN or not token.isprintable():
        raise UsageError("session_id is required: the one that GET /api/scraper/queue/next-role gave")
    complete = members.get("complete")
    if complete is not None and not isinstance(complete, bool):
        raise InvalidPayload(
            "complete must be true or false; false means that more postings of this session will follow"
        )
    said, each = members.get("verdict"), members.get("verdicts")
    verdict = None if said is None else _verdict("verdict", said)
    verdicts = {} if each is None else _verdicts(each)
    platform = members.get("platform")
    where = None if platform is None else _platform("platform", platform)
    check_proof(verdict, verdicts, members.get("proof"))
    return Report(token, where or None, complete is not False, verdict, verdicts)


def check_proof(verdict: Verdict | None, verdicts: Mapping[str, Verdict], proof: Any) -> None:
    """Refuse an empty look without proof. Several empty platforms have one each, by their names."""
    empty = [name for name, each in verdicts.items() if each is Verdict.EMPTY]
    if verdict is not Verdict.EMPTY and not empty:
        return
    if not isinstance(proof, Mapping):
        raise InvalidPayload(PROOF)
    if len(empty) <= 1 and not {*empty} & proof.keys():
        _check_proof(proof, "proof")
        return
    for name in empty or [""]:
        _check_proof(proof.get(name), f"proof.{name}" if name else "proof")


def _check_proof(said: Any, where: str) -> None:
    """Refuse what proves nothing, and say what is wrong with it."""
    if not isinstance(said, Mapping) or not said.keys() & {"says", "control"}:
        raise InvalidPayload(f"{where}: {PROOF}")
    if not _is_address(said.get("url")):
        raise InvalidPayload(
            f"{where}.url must be the address that was searched, such as https://dice.example/jobs?q=nurse"
        )
    control, says = said.get("control"), said.get("says")
    if isinstance(control, Mapping):
        results, query = control.get("results"), control.get("query")
        if not (isinstance(query, str) and query.strip() and type(results) is int and results > 0):
            raise InvalidPayload(
                f"{where}.control must name a search that found something at the same time: "
                '{"query": "nurse", "results": 120}'
            )
    elif not isinstance(says, str) or not says_nothing(says):
        raise InvalidPayload(
            f"{where}.says is {_shown(says)}, which is not recognised as a statement that there are no results; "
            'quote the sentence of the page, such as "No jobs found", or send "control" instead: '
            '{"query": "nurse", "results": 120}, a search that found something at the same time'
        )


def _shown(said: Any) -> str:
    return (
        repr(said if len(said) <= MAX_SHOWN else f"{said[:MAX_SHOWN]}…")
        if isinstance(said, str)
        else "no text"
    )


def says_nothing(says: str) -> bool:
    """Whether a sentence says, as pages do, that there are no results."""
    return says_none(" ".join(says[: 4 * MAX_SHOWN].split()))


def _is_address(url: Any) -> bool:
    try:
        return isinstance(url, str) and bool(canonical_url(url))
    except (InvalidUrl, UnicodeError):
        return False


def conclude(
    report: Report, platforms: Collection[str], held: Collection[str], seen: Mapping[str, int]
) -> Conclusion:
    """How a session ends, or what is said while it goes on. `held` are those of its platforms that nobody has
    judged yet ("" where it has none), `seen` how many postings it has brought of each, this time and before.
    """
    strange = [name for name in report.verdicts if name not in platforms]
    if strange:
        there = ", ".join(platforms) or "no platforms; use verdict instead"
        raise InvalidPayload(
            f"verdicts names {strange[0]!r}, which is not a platform of this session; it has {there}"
        )
    for name, verdict in report.verdicts.items():
        _check(verdict, seen.get(name, 0), name)
    return _at_the_end(report, held, seen) if report.complete else _on_the_way(report, platforms, seen)


def _on_the_way(report: Report, platforms: Collection[str], seen: Mapping[str, int]) -> Conclusion:
    if report.verdict is None:
        return Conclusion(None, report.verdicts)
    if report.platform is None or report.platform not in platforms:
        raise InvalidPayload(
            "a verdict before the end must be about one platform of the session; name it, or send "
            'it with "complete": true'
        )
    _check(report.verdict, seen.get(report.platform, 0), report.platform)
    return Conclusion(None, {report.platform: report.verdict, **report.verdicts})


def _at_the_end(report: Report, held: Collection[str], seen: Mapping[str, int]) -> Conclusion:
    brought = sum(seen.values())
    if report.verdict is not None:
        where = report.platform if report.platform in held else None
        if report.verdict is Verdict.EMPTY and where is None and len(held) > 1:
            raise InvalidPayload(
                "a proof is about one platform: name the platform, or use verdicts with a proof for each"
            )
        _check(report.verdict, brought if where is None else seen.get(where, 0), where or "the session")
    verdicts = {
        name: _of_platform(report, name, brought if name == "" else seen.get(name, 0)) for name in held
    }
    kinds = set(verdicts.values())
    silent = Verdict.FOUND if brought else kinds.pop() if len(kinds) == 1 else Verdict.UNKNOWN
    return Conclusion(report.verdict or silent, verdicts)


def _of_platform(report: Report, name: str, seen: int) -> Verdict:
    """What was said of a platform counts; that something was found there only with something to show."""
    silent = Verdict.FOUND if seen else Verdict.UNKNOWN
    said = report.verdicts.get(name)
    if said is None and (name == "" or report.platform in (None, name)):
        said = report.verdict
    return silent if said is None or said is Verdict.FOUND else said


def _check(verdict: Verdict, seen: int, what: str) -> None:
    if verdict is Verdict.EMPTY and seen:
        raise InvalidPayload(
            f"{what} cannot be empty: {seen:,} of its postings are in this session; omit the verdict"
        )
    if verdict is Verdict.FOUND and not seen:
        raise InvalidPayload(
            f"{what}: the verdict is found, but no posting was sent; omit the verdict, or say what "
            "happened instead"
        )


def _verdicts(said: Any) -> dict[str, Verdict]:
    if not isinstance(said, Mapping) or len(said) > MAX_VERDICTS:
        raise InvalidPayload(
            f'verdicts must be an object such as {{"dice": "blocked"}}, of at most {MAX_VERDICTS} platforms'
        )
    return {_platform("verdicts", name): _verdict("verdicts", each) for name, each in said.items()}


def _verdict(name: str, said: Any) -> Verdict:
    if said not in SAID:
        raise InvalidPayload(f"{name} must be one of {', '.join(SAID)}")
    return Verdict(said)


def _platform(name: str, said: Any) -> str:
    if not isinstance(said, str) or len(said) > MAX_PLATFORM:
        raise InvalidPayload(f"{name} must be the name of a platform, of at most {MAX_PLATFORM} characters")
    return platform_name(said)

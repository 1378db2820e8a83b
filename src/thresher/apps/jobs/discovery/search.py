"""A search: what a discovery still has to try, and what it has tried. It travels from stage to stage as the
checkpoint.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.jobs.discovery.candidate import GONE, UNREACHED, Candidate, Tried, candidate_of
from thresher.core.errors import Blocked, ConfigError, Forbidden, Gone, Transient, Unauthorized
from thresher.core.page import Verdict
from thresher.hiring.confidence import Method

WALLS = (Blocked, Unauthorized, Forbidden, ConfigError)


@dataclass(slots=True)
class Search:
    """`named` are candidates that somebody or a page named. `doubtful` is the first guess that nothing speaks
    for or against, by number.
    """

    named: tuple[Candidate, ...] = ()
    guesses: tuple[Candidate, ...] = ()
    tried: list[Tried] = field(default_factory=list)
    doubtful: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "named": [each.as_json() for each in self.named],
            "guesses": [each.as_json() for each in self.guesses],
            "tried": [each.as_json() for each in self.tried],
            "doubtful": self.doubtful,
        }

    def note(self, candidate: Candidate, url: str, problem: Exception) -> None:
        """A candidate that gave no answer to read."""
        ends = ((WALLS, Verdict.BLOCKED), (Gone, GONE), (Transient, UNREACHED))
        verdict = next((end for kind, end in ends if isinstance(problem, kind)), Verdict.UNKNOWN)
        self.tried.append(Tried(candidate.method, url, verdict, reason=str(problem)))

    def says(self) -> str:
        """That nothing was found, and where it was looked for. It does not say that there is nothing."""
        pages = [f"{each.url}: {each.reason}" for each in self.tried if each.method != Method.GUESS]
        guessed = [each for each in self.tried if each.method == Method.GUESS]
        silent = sum(each.verdict in (Verdict.BLOCKED, UNREACHED) for each in guessed)
        counts = (
            (f"{len(guessed)} guessed boards led nowhere", f"{silent} of them did not answer")
            if guessed
            else ()
        )
        return "; ".join(("no board was found", *pages[:4], *(counts if silent else counts[:1])))

    @property
    def is_open(self) -> bool:
        """Whether somebody should look at it again: a page or a board that was named was not read, or a guess
        was not answered.
        """
        unread = (Verdict.BLOCKED, UNREACHED)
        return any(
            each.verdict in (unread if each.method == Method.GUESS else (*unread, Verdict.UNKNOWN))
            for each in self.tried
        )


def search_of(data: Mapping[str, Any]) -> Search:
    """The way back from JSON."""
    return Search(
        tuple(map(candidate_of, data["named"])),
        tuple(map(candidate_of, data["guesses"])),
        [Tried(**each) for each in data["tried"]],
        data["doubtful"],
    )

"""What can be exported of the roles app: candidates, and the postings that suit them."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from thresher.admin.export import record_export
from thresher.admin.records import PORTION, every
from thresher.apps.roles.model import CANDIDATE
from thresher.apps.roles.service.matches import list_fits
from thresher.apps.roles.store.matches import STATUSES
from thresher.core.extension import Export
from thresher.store.store import Store


def _matches(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    """The matches of every candidate, the best of each first."""
    for candidate in every(store, CANDIDATE):
        after: str | None = None
        while some := list_fits(store, candidate=candidate.key, status=status, after=after, limit=PORTION):
            yield from map(asdict, some)
            after = some[-1].posting


CANDIDATES = record_export(
    CANDIDATE,
    (
        "name",
        "email",
        "title",
        "roles",
        "skills",
        "tech_stack",
        "specializations",
        "experience_years",
        "locations",
        "salary_min",
        "currency",
        "remote",
        "keywords",
        "key",
    ),
    separator="; ",  # as the files have it that candidates come in by
)
MATCHES = Export(
    _matches,
    (
        "candidate_name",
        "score",
        "grade",
        "recommended",
        "status",
        "title",
        "company_name",
        "location",
        "pay",
        "url",
        "state",
        "skills=parts.skills",
        "experience=parts.experience",
        "place=parts.location",
        "salary=parts.salary",
        "semantic=parts.semantic",
        "note",
        "matched_at",
        "candidate",
        "posting",
    ),
    tuple(STATUSES),
)
EXPORTS = {"candidates": CANDIDATES, "candidate-matches": MATCHES}

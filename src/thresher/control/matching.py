"""Asking for the matching of postings with everybody who wants their role, in the transaction that brought
them.
"""

from collections.abc import Sequence

from thresher.core.errors import UsageError
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store.session import Session
from thresher.store.store import Store, Transaction

MATCHING = "match_postings"
AT_ONCE = 1_000  # postings in one task


def check_app(registry: Registry) -> None:
    """Refuse postings that nobody here would match."""
    if registry.pipeline(MATCHING) is None:
        raise UsageError(
            "the roles app is not among the apps of this project; add roles to apps in thresher.yaml"
        )


def ask_matching(
    store: Store, registry: Registry, session: Session, role_id: int, token: str, postings: Sequence[int]
) -> None:
    """Have these postings, by their records, matched for a role. `token` is the session that brought them."""
    portions = [list(postings[at : at + AT_ONCE]) for at in range(0, len(postings), AT_ONCE)]
    asked = [
        NewTask(MATCHING, {"role": role_id, "postings": portion, "session": token}) for portion in portions
    ]
    Transaction(store, session).enqueue([registry.admit(each) for each in asked])

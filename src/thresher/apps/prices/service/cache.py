"""How long the answers of one source are used again: what a person changes while everything runs."""

from thresher.apps.prices.store.answers import forget_source_answers
from thresher.apps.prices.store.sources import find_price_source, set_cache_seconds
from thresher.core.errors import UnknownName, UsageError
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_SECONDS = 30 * 86_400


def set_cache(store: Store, source: str, seconds: int | None) -> None:
    """Set for how many seconds the answers of a source are used again; 0 keeps nothing and forgets what was
    kept, None leaves it to what the source says. It holds whatever the project file says.
    """
    if seconds is not None and (type(seconds) is not int or not 0 <= seconds <= MAX_SECONDS):
        raise UsageError(
            f"the time to keep answers of {source[:60]!r} must be from 0 to {MAX_SECONDS:,} seconds, or none "
            f"for what the source says; got {seconds!r}"
        )

    def change(session: Session) -> int:
        found = find_price_source(session, source)
        if found is None:
            raise UnknownName(f"there is no price source {source[:60]!r}; thresher prices sources lists them")
        set_cache_seconds(session, found.id, seconds)
        return found.id

    number = in_transaction(store, change)
    while seconds == 0 and in_transaction(
        store, lambda session: forget_source_answers(session, number, store.backend.now(session))
    ):
        pass

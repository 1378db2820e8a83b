"""Whether this server could serve a request: its database answers and has the tables that this version needs.

Strangers may ask. So however many do, the database is asked once a second at most, and never twice at a time.
"""

import asyncio
import logging

from thresher.core.clock import monotonic
from thresher.core.errors import ThresherError
from thresher.store.app_migrations import pending_of_apps
from thresher.store.migrate import check_not_newer, newest, pending, version_now
from thresher.store.store import Store

log = logging.getLogger("thresher.web")

LASTS = 1.0  # seconds for which an answer counts
PATIENCE = 5.0  # seconds; a database that takes longer does not answer


class Readiness:
    """The last look at the database, or the one under way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._look: asyncio.Future[str | None] | None = None
        self._at = 0.0

    async def problem(self) -> str | None:
        """Say what is missing; None if nothing is. The words are for the log, not for strangers."""
        if self._look is None or (self._look.done() and monotonic() - self._at > LASTS):
            self._at = monotonic()
            self._look = asyncio.ensure_future(self._store.run(what_is_missing, self._store))
        try:
            async with asyncio.timeout(PATIENCE):
                return await asyncio.shield(self._look)
        except TimeoutError:
            return f"the database did not answer within {PATIENCE:g} seconds"


def what_is_missing(store: Store) -> str | None:
    """Look whether the database answers and is migrated."""
    try:
        with store.read() as session:
            dialect = store.backend.dialect
            check_not_newer(version_now(session, dialect), newest(dialect.words))
            steps = pending(session, dialect) + pending_of_apps(session, store.app_schemas)
    except ThresherError as problem:
        found = str(problem)
    else:
        found = f"migrations are missing: {', '.join(steps)}; run: thresher migrate" if steps else ""
    if found:
        log.warning("not ready: %s", found)
    return found or None

"""Settings that were changed elsewhere come into force in a running server too."""

import asyncio
import logging

from thresher.core.errors import ThresherError
from thresher.runtime import Runtime
from thresher.store.settings import refresh_settings

log = logging.getLogger("thresher.web")


def refresh(runtime: Runtime) -> None:
    """Read the settings again, for the store and for the checks of incoming tasks."""
    refresh_settings(runtime.store)
    runtime.registry.settings = runtime.store.settings


async def keep_fresh(runtime: Runtime) -> None:
    """Refresh for ever. A database that is away for a while is no reason to stop."""
    while True:
        await asyncio.sleep(float(runtime.store.settings["settings.every"]))
        try:
            await runtime.store.run(refresh, runtime)
        except ThresherError as problem:
            log.warning("the settings cannot be read: %s", problem)

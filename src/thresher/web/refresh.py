"""Settings that were changed elsewhere come into force in a running server too."""

import asyncio
import logging

from thresher.core.errors import ThresherError
from thresher.runtime import Runtime
from thresher.store.settings import settings_in_force

log = logging.getLogger("thresher.web")


def refresh(runtime: Runtime) -> None:
    """Read the settings anew, for the store and for whoever checks what comes in."""
    with runtime.store.read() as session:
        runtime.store.settings = settings_in_force(runtime.store, session)
    runtime.registry.settings = runtime.store.settings


async def keep_fresh(runtime: Runtime) -> None:
    """Do so for ever. A database that is away for a while is no reason to stop."""
    while True:
        await asyncio.sleep(float(runtime.store.settings["settings.every"]))
        try:
            await runtime.store.run(refresh, runtime)
        except ThresherError as problem:
            log.warning("the settings cannot be read: %s", problem)

"""Settings that were changed elsewhere come into force in a running server too."""

import asyncio
import logging

from thresher.build import Workshop
from thresher.core.errors import ThresherError
from thresher.store.settings import settings_in_force

log = logging.getLogger("thresher.web")


def refresh(shop: Workshop) -> None:
    """Read the settings anew, for the store and for whoever checks what comes in."""
    with shop.store.read() as session:
        shop.store.settings = settings_in_force(shop.store, session)
    shop.registry.settings = shop.store.settings


async def keep_fresh(shop: Workshop) -> None:
    """Do so for ever. A database that is away for a while is no reason to stop."""
    while True:
        await asyncio.sleep(float(shop.store.settings["settings.every"]))
        try:
            await shop.store.run(refresh, shop)
        except ThresherError as problem:
            log.warning("the settings cannot be read: %s", problem)

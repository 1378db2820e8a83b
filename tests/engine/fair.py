"""A fair of shops: stages that fetch from a web that is real but local, behind the gates that all workers
share."""

import asyncio
from functools import partial

import pytest

from tests.engine.workshop import PATIENCE, Workshop, one_stage
from tests.fetch.site import open_site
from tests.harness.tasks import rows
from thresher import NewTask
from thresher.config.outward import Outward
from thresher.core.clock import SystemClock
from thresher.engine.process_pool import ProcessPool, note_stopped
from thresher.engine.stage_context import Services
from thresher.runtime import make_fetcher

SHOP = "https://shop.example"
GATE = "host:shop.example"
BRISK = {"host__interval": 0.0}


@pytest.fixture
def clock():
    """Real time: between two requests there is nothing else to wait for."""
    return SystemClock()


class Fair:
    """A workshop whose workers go out to a local site."""

    def __init__(self, workshop: Workshop, site) -> None:
        self.shop, self.site = workshop, site

    def worker(self, registry, store=None, **how):
        store = store or self.shop.store
        pool = ProcessPool(lambda: store.settings, partial(note_stopped, store))
        fetcher = make_fetcher(
            Outward(resolve={"*": self.site.address}), lambda: store.settings, store, pool.run
        )
        return self.shop.worker(registry, store, services=Services(fetcher, pool=pool), **how)

    async def drain(self, perform, *new, through=(GATE,), sources=(), patience=0.0, **settings):
        """Perform these tasks until nothing is left that can be done now; their ids."""
        registry = self.shop.set_up(
            one_stage("look", perform, through=through, sources=sources), **(BRISK | settings)
        )
        ids = self.shop.put(registry, *(new or (NewTask("look"),)))
        await asyncio.wait_for(self.worker(registry, until_idle=True, patience=patience).run(), PATIENCE)
        return ids

    def one(self, task_id):
        fields = self.shop.fields(task_id)
        return fields["state"], fields["error"], fields["failures"]


@pytest.fixture
def at(workshop):
    def run(says, story):
        async def whole():
            async with open_site(says) as site:
                await story(Fair(workshop, site))

        asyncio.run(whole())

    return run


def gate_of(store, name, column):
    return rows(store, f"select {column} from gates where name = :name", name=name)[0][0]

"""A workshop whose workers ask the practice web's model, as a project file would have it."""

import asyncio
from decimal import Decimal
from typing import Any

from tests.engine.workshop import PATIENCE, Workshop
from tests.harness.ours import OURS
from thresher import App, Done, NewTask, Pipeline, Stage
from thresher.ai.ask import Advisor
from thresher.ai.prices import Prices
from thresher.ai.prompt import Library
from thresher.ai.providers import open_provider
from thresher.config.models import Models, Rate, Thinker, Tier
from thresher.config.outward import Outward
from thresher.config.settings import Settings
from thresher.core.answer import DOLLAR
from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema
from thresher.core.spans import Spans
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.practice.web import PracticeWeb
from thresher.runtime import install, install_models, make_fetcher
from thresher.store.store import Store

GATE = "source:practice"
MODEL = "practice-small"
ITEM = Schema("item", (Field("title", required=True), Field("price", Kind.MONEY), Field("wood")))
INPUT_PRICE, OUTPUT_PRICE = Decimal(1), Decimal(4)  # dollars per million tokens


def page(number: int) -> str:
    return f"Furniture made by hand.\n\ntitle: Table number {number}\nprice: $1{number}0.00\nwood: oak\n"


def models(
    web: PracticeWeb, *, key: str | None = "key", key_name: str | None = None, **limits: Any
) -> Models:
    thinker = Thinker("practice", "openai", key, f"{web.url}/v1", key_name=key_name, **limits)
    tiers = dict.fromkeys(("cheap", "strong"), Tier("practice", MODEL))
    return Models({"practice": thinker}, tiers, {f"practice/{MODEL}": Rate(INPUT_PRICE, OUTPUT_PRICE)})


async def read_one(ctx: Any) -> Any:
    """The plainest stage there is: one page, one question, what came of it as the note."""
    answer = await ctx.ask("extract", ITEM, {"page": Material(ctx.task.payload["page"])})
    return Done(note=f"{answer.value['title']}: {'again' if answer.cached else 'new'}")


class Study:
    """Tasks that ask, on one database, with as many machines as wanted."""

    def __init__(
        self,
        workshop: Workshop,
        web: PracticeWeb,
        perform: Any = read_one,
        through: tuple[str, ...] = ("model:cheap",),
    ) -> None:
        self.shop, self.web = workshop, web
        self.app = App(
            "study",
            pipelines=(Pipeline("read", Stage(perform, through=through, name="read")),),
            schemas=(ITEM,),
        )
        self.models = models(web)
        self.spans: Spans | None = None

    def open(self, **settings: Any) -> Registry:
        calm = {
            "host.interval": 0.0,
            "worker.lease": 30.0,
        }  # a vendor's library loads for seconds, and must not cost the lease
        wanted = (
            self.shop.store.project_settings
            | calm
            | {name.replace("__", "."): value for name, value in settings.items()}
        )
        self.shop.store.project_settings, self.shop.store.settings = wanted, Settings(wanted, OURS)
        gates = {name: self.models.providers[tier.provider].gate for name, tier in self.models.tiers.items()}
        registry = Registry([self.app], self.shop.store.settings, tiers=gates)
        install(self.shop.store, registry)
        install_models(self.shop.store, self.models)
        return registry

    def worker(self, registry: Registry, store: Store | None = None, **how: Any) -> Worker:
        store = store or self.shop.store
        providers = {name: open_provider(thinker) for name, thinker in self.models.providers.items()}
        advisor = Advisor(
            providers,
            self.models.tiers,
            Prices(self.models),
            Library(apps=[self.app]),
            lambda: store.settings,
        )
        fetcher = make_fetcher(Outward(resolve={"*": self.web.url}), lambda: store.settings, store)
        return self.shop.worker(
            registry, store, services=Services(fetcher, advisor, providers, spans=self.spans), **how
        )

    def drain(self, registry: Registry, *, workers: int = 1, patience: float = 0.0) -> None:
        async def all_of_them() -> None:
            stores = [
                self.shop.store,
                *(self.shop.machine(**_named(self.shop.store)) for _ in range(workers - 1)),
            ]
            running = [
                self.worker(registry, store, until_idle=True, patience=patience).run() for store in stores
            ]
            await asyncio.wait_for(asyncio.gather(*running), PATIENCE)

        asyncio.run(all_of_them())

    def ask(self, registry: Registry, *numbers: int) -> list[int]:
        return self.shop.put(registry, *(NewTask("read", {"page": page(number)}) for number in numbers))

    @property
    def calls(self) -> int:
        return sum(entry.method == "POST" for entry in self.web.log())


def dollars(amount: float) -> int:
    return round(amount * DOLLAR)


def _named(store: Store) -> dict[str, Any]:
    return {name.replace(".", "__"): value for name, value in store.project_settings.items()}

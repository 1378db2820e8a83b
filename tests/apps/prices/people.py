"""Items of people and a list of a club: what the tests of services, commands and routes look at."""

from collections.abc import Mapping
from typing import Any

from thresher.apps.prices.app import app
from thresher.apps.prices.service.items import add_item
from thresher.apps.prices.service.sources import add_source
from thresher.testing.web import Page
from thresher.testing.world import World

URL = "https://club.example/coins.csv"
MORGAN = "1921-D Morgan"
COIN = {"denomination": "dollar", "year": "1921", "mintmark": "D", "series": "Morgan"}
LIST = """id,title,price,currency,type,date,url
1,1921-D Morgan silver dollar,$45.00,USD,sold,2023-11-01,https://club.example/1
2,1921-D Morgan dollar MS63,$82.00,USD,sold,2023-11-02,https://club.example/2
3,1921 D Morgan Dollar silver,$47.50,USD,sold,2023-11-05,https://club.example/3
4,1922 Peace dollar,$35.00,USD,sold,2023-11-05,https://club.example/4
5,Lot of 5 1921-D Morgan dollars,$200.00,USD,ask,2023-11-05,https://club.example/5
6,1921-D Morgan dollar,"39,90 €",EUR,ask,2023-11-05,https://club.example/6
"""
RATES = "day,currency,rate\n2023-11-03,USD,1.0702\n2023-11-14,USD,1.0724\n"
POLITE = {"host.interval": 0.0, "host.in_flight": 100}


def made_world(
    url: str, pages: Mapping[str, Page] | None = None, settings: Mapping[str, float] | None = None
) -> World:
    """The prices app with the list of the club on its web."""
    said = {URL: LIST} if pages is None else pages
    return World(app, pages=said, settings={**POLITE, **(settings or {})}, database=url)


def add_club(world: World, **said: Any) -> None:
    """The club as a source."""
    whole = {"adapter": "csv", "options": {"url": URL}, "reputation": 0.8, "rate_per_minute": None, **said}
    add_source(world.store, world.registry, "club", whole)


def add_morgan(world: World, name: str = MORGAN, **said: Any) -> int:
    """A coin that the club sells."""
    found = add_item(world.store, world.registry, name, {"kind": "coin", "attributes": COIN, **said})
    return found.item.id


def priced(world: World) -> int:
    """A coin with prices and a value."""
    add_club(world)
    item = add_morgan(world)
    world.run_until_idle()
    return item

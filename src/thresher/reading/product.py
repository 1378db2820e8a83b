"""A product: what is for sale, for how much, and whether it is there."""

from dataclasses import dataclass

from thresher.reading.money import Price


@dataclass(frozen=True, slots=True)
class Product:
    """`where` says where in the page it stands. Out of stock is not free: a missing price is None."""

    name: str
    price: Price | None = None
    availability: str | None = None
    url: str | None = None
    where: str = ""

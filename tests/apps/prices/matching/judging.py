"""Items and listings for the tests of matching; each test names only what it is about."""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import (
    Item,
    ItemSpec,
    ItemStatus,
    JudgedListing,
    Listing,
    PriceType,
    Signal,
    SourceRule,
)

NEEDED = 600


def item(
    kind: str, *, name: str = "", include: Sequence[str] = (), exclude: Sequence[str] = (), **said: str
) -> Item:
    """An item of which this is said."""
    spec = ItemSpec(name or " ".join(said.values()), kind, said, tuple(include), tuple(exclude))
    return Item(1, spec, ItemStatus.ATTRIBUTED)


def coin(denomination: str = "dollar", year: str = "1921", **said: str) -> Item:
    return item("coin", denomination=denomination, year=year, **said)


def product(model: str, **said: str) -> Item:
    return item("product", model=model, **said)


MORGAN = coin(mintmark="D", series="Morgan")


def listing(
    title: str, *, amount: int | None = 6_000, aspects: Mapping[str, str] | None = None, **said: Any
) -> Listing:
    """Something that was sold for 60.00 USD."""
    defaults = {"price_type": PriceType.SOLD, "currency": "USD"} | said
    return Listing(title, amount=amount, aspects=aspects or {}, **defaults)


def judged(
    about: Item,
    title: str = "1921-D Morgan Dollar",
    rules: Sequence[SourceRule] = (),
    needed: int = NEEDED,
    **said: Any,
) -> JudgedListing:
    return judge(listing(title, **said), about, rules, needed)


def signal(found: JudgedListing, name: str) -> Signal:
    """The signal of this name."""
    return next(each for each in found.signals if each.name == name)


def verdict(about: Item, title: str, name: str, **said: Any) -> str:
    """What a title says about an attribute."""
    return signal(judged(about, title, **said), name).verdict

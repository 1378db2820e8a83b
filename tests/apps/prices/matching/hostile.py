"""Titles that a stranger writes to keep a comparison busy. Run as a program, it judges each of them: the test
gives it little processor time.
"""

from tests.apps.prices.matching.judging import MORGAN, coin, item, product
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import Listing, PriceType, RuleKind, SourceRule

LONG = 100_000
PIECES = (
    "a",
    "1",
    "1921-",
    "1921 D ",
    "not ",
    "not , or ",
    "cleaned, or ",
    "MS65 ",
    "MS65/",
    "lot of ",
    "lot of 5 ",
    "5x ",
    "(((",
    "1.1.1.",
    "a.b.",
    "-",
    "$1.",
    "1/2",
    "½",
    "´a",
    "é",
    "ﷺ",  # one character that becomes eighteen
    "\u0301",
    "RTX 409",
    "RTX 4090 ",
    "for ",
    "4006381333931 ",
    "128GB/",
    "VAM-",
    "\n\t ",
    "\x00",
)
RULES = (
    SourceRule(RuleKind.ALLOWED_PATH, ("/(a+)+$",)),
    SourceRule(RuleKind.EXCLUDE_KEYWORDS, ("not cleaned", "a a a a a a b")),
)
ITEMS = (
    MORGAN,
    coin(mintmark="D", series="Morgan", variety="VAM-3", grade="MS65", cleaned="yes"),
    product(
        "RTX 4090", brand="NVIDIA", variant="128GB black size 42", gtin="4006381333931", condition="used"
    ),
    item("product", model="a " * 99, brand="a", include=["a b"] * 20, exclude=["b a"] * 20),
)


def hostile_listings(length: int = LONG) -> list[Listing]:
    """A listing of each piece, in all its texts."""
    return [_listing((piece * length)[:length]) for piece in PIECES]


def _listing(text: str) -> Listing:
    aspects = {f"{name} {at}": text for at in range(200) for name in ("Year", "Grade")}
    fields = dict.fromkeys(("Year", "Grade", "Brand", "Model", "EAN", text), text)
    return Listing(
        text,
        PriceType.SOLD,
        100,
        "USD",
        url=f"https://m.example/{text}",
        condition=text,
        aspects=fields | aspects,
    )


if __name__ == "__main__":
    for each in hostile_listings():
        for about in ITEMS:
            judge(each, about, RULES, 600)

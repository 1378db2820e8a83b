"""Attacks on promise 18 through selectors: a page names its own elements, and no name of a page may become
part of a selector."""

import subprocess
import sys

import pytest

from tests.learning.test_rows import LIST
from tests.reading.pages import look
from thresher.core.errors import UsageError
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.locator import learned_selector
from thresher.learning.read import read
from thresher.learning.record import from_json, to_json
from thresher.reading.html.document import Document

# Matching the second half of this tag name as a selector takes time that grows with the fourth power of the
# number of siblings.
BOMB = "x,:has(~p~p~p~p~zz)"
PRODUCT = (
    f"<title>Ladder of ash | Acme</title><{BOMB} class=title>Ladder of ash</{BOMB}><p class=price>£5.00</p>"
    + "<p>x</p>" * 400
)
ROW = "<{0} class=hit><h3>{1}</h3><p class=brand>Acme</p></{0}>"
NAMES = ("Ladder", "Hammer", "Anvil", "Chisel")

# In a process of its own: what holds the interpreter holds every timer of it, too.
ATTACK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from tests.reading import test_selectors_hostile as attack
getattr(attack, sys.argv[1])()
"""


def read_product() -> None:
    (product,) = look(PRODUCT).products
    assert (product.name, product.price and product.price.text) == ("Ladder of ash", "£5.00")


def table(tag: str) -> Document:
    rows = "".join(ROW.format(tag, name) for name in NAMES)
    return Document.from_html(f"<div class=list>{rows}</div>" + "<p>x</p>" * 400, "https://tools.example/all")


def learn_table() -> None:
    found = learn(LIST, [Example(table(BOMB), {"items": [{"title": name} for name in NAMES]})])
    assert not isinstance(found, Extractor) or read(found, table(BOMB))


@pytest.mark.promise(18)
@pytest.mark.parametrize("attack", ["read_product", "learn_table"])
def test_a_tag_name_that_is_a_selector_is_only_a_name(attack: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ATTACK, attack], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{attack} ended with {done.returncode}: {done.stderr[-2000:]}"


def test_a_price_within_the_headline_or_behind_it_is_found_and_one_before_it_is_not():
    for headline in ("<h1>Ladder <b class=price>£2.00</b></h1>", "<h1>Ladder</h1><b id=price>£2.00</b>"):
        seen = look(f"<p class=price>£1.00</p>{headline}")
        assert [product.price.text for product in seen.products if product.price] == ["£2.00"]


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "selector",
    [
        BOMB,
        f"div > {BOMB}",
        "p:has(p)",
        'a[class~="b"], p',
        'a[onclick="x"]',
        'a[id="b\\"]',
        'a[id="\n"]',
        "a b c",
        "*",
        "",
    ],
)
def test_only_what_the_learner_writes_itself_is_a_learned_selector(selector: str) -> None:
    with pytest.raises(UsageError, match="learn the site again"):
        learned_selector(selector)


@pytest.mark.promise(18)
def test_a_stored_extractor_with_a_selector_that_was_never_learned_is_refused() -> None:
    found = learn(LIST, [Example(table("li"), {"items": [{"title": name} for name in NAMES]})])
    assert isinstance(found, Extractor), found
    stored = to_json(found)
    assert from_json(stored) == found
    with pytest.raises(UsageError, match="learn the site again"):
        from_json(stored | {"row": f"div > {BOMB}"})
    title = stored["fields"]["title"]
    forged = [rule | {"by": ["css", BOMB, ""]} for rule in title["rules"]]
    with pytest.raises(UsageError, match="learn the site again"):
        from_json(stored | {"fields": stored["fields"] | {"title": title | {"rules": forged}}})

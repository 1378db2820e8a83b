"""The currency that a page is in, as far as the page itself says: `$` alone is written in twenty
countries.
"""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from thresher.apps.prices.adapters.amounts import currency_code
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.thing import texts

MAX_CODES = 500
MAX_DEPTH = 6
_META = ("product:price:currency", "og:price:currency", "pricecurrency", "currency")
# Countries whose sign is somebody else's too, by the end of a host and by the region of a language.
_REGIONS: Mapping[str, str] = MappingProxyType(
    {
        "us": "USD",
        "ca": "CAD",
        "au": "AUD",
        "nz": "NZD",
        "sg": "SGD",
        "hk": "HKD",
        "mx": "MXN",
        "cl": "CLP",
        "co": "COP",
        "ar": "ARS",
        "tw": "TWD",
        "jp": "JPY",
        "cn": "CNY",
        "se": "SEK",
        "no": "NOK",
        "dk": "DKK",
        "is": "ISK",
        "in": "INR",
        "pk": "PKR",
    }
)
# Endings that are used all over the world, whatever country they are of.
_ANYWHERE = frozenset({"co", "is", "in"})


def currency_of_page(facts: Facts, url: str) -> str | None:
    """The only currency that a page declares, else that of the country that it says it is for."""
    declared = {code for each in facts.structured.things for code in _codes(each.properties, 0)}
    declared |= {code for name in _META if (code := currency_code(facts.meta.get(name)))}
    declared |= {
        code
        for node in facts.document.root.css("[itemprop=priceCurrency]")[:MAX_CODES]
        if (code := currency_code(node.attribute("content") or node.line))
    }
    if declared:
        return declared.pop() if len(declared) == 1 else None
    region = facts.document.language_hint.replace("_", "-").partition("-")[2].lower()
    ending = _ending(url)
    found = {_REGIONS[each] for each in (region, ending) if each in _REGIONS}
    return found.pop() if len(found) == 1 else None


def _codes(value: object, depth: int) -> set[str]:
    """Every price currency in a thing."""
    if depth > MAX_DEPTH:
        return set()
    if isinstance(value, list):
        return {code for each in value[:MAX_CODES] for code in _codes(each, depth + 1)}
    if not isinstance(value, Mapping):
        return set()
    own = (currency_code(said) for said in texts(value.get("priceCurrency")))
    inner = (code for each in value.values() for code in _codes(each, depth + 1))
    return {code for code in own if code} | set(inner)


def _ending(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    last = host.rpartition(".")[2]
    return "" if last in _ANYWHERE and not host.endswith((".co.in", ".com.co")) else last

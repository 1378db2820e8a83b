"""The stop lists, checked before anything is fetched: title, company name and URL."""

from thresher.apps.jobs.filtering.compiled_profile import CompiledProfile, sieve
from thresher.apps.jobs.filtering.negation import negated
from thresher.apps.jobs.filtering.phrase import folded
from thresher.apps.jobs.filtering.refusals import stopped_company
from thresher.apps.jobs.filtering.rejection import Rejection, in_field
from thresher.apps.jobs.person.wants import Profile
from thresher.core.errors import InvalidUrl
from thresher.reading.values.addresses import read_address

MAX_ADDRESS = 4_000  # characters of an address that words are looked for in


def stopped(
    profile: Profile, *, title: str | None = None, company: str | None = None, url: str | None = None
) -> Rejection | None:
    """Why a posting is not looked at, or None."""
    ready = sieve(profile)
    return (
        stopped_company(ready, company)
        or _domain(ready, url)
        or _keyword(ready, title, "title")
        or _in_address(ready, url)
    )


def _domain(ready: CompiledProfile, url: str | None) -> Rejection | None:
    if not url or not ready.domains:
        return None
    try:
        host = read_address(url).hostname.rstrip(".")
    except InvalidUrl:
        return None  # whoever fetches it will say so
    for domain in ready.domains:
        if host == domain or host.endswith(f".{domain}"):
            return Rejection(
                "domain", "excluded_domain", f"you exclude the domain {domain}", in_field("url", url)
            )
    return None


def _keyword(ready: CompiledProfile, text: str | None, path: str) -> Rejection | None:
    if not text:
        return None
    low = folded(text)
    for phrase in ready.keywords:
        for start, end in phrase.hits(low):
            if not negated(text, start, end):
                return Rejection(
                    "keyword",
                    "excluded_keyword",
                    f"its {path} says {phrase.text!r}, which you exclude",
                    in_field(path, text),
                )
    return None


def _in_address(ready: CompiledProfile, url: str | None) -> Rejection | None:
    """Words of an address are divided by dashes, underscores and slashes."""
    if not url:
        return None
    found = _keyword(
        ready, url[:MAX_ADDRESS].replace("_", " ").replace("+", " ").replace("%20", "   "), "address"
    )
    return found and Rejection(found.category, found.name, found.reason, in_field("url", url))

"""When two listings of a source are the same one: the key of a price point.

A source's own id is the key. Without one, what a listing says is: its address without query and fragment,
its title, price, day and type.
"""

import hashlib

import ada_url
import orjson

from thresher.apps.prices.model import Listing
from thresher.core.clock import day_of
from thresher.core.limits import MAX_NAME_BYTES

DIGITS = 16  # of the hash, in a key of what a listing says


def dedupe_key(listing: Listing, observed_at: int) -> str:
    """Return the key of a listing within its item and source. `observed_at` gives the day of one that has no
    date.

    `ext_ID`, or `hash_` and 16 digits. An id that an index cannot hold, or nobody could read, becomes `exth_`
    and its SHA-256: no id can be written so that it looks like one of these.
    """
    if listing.external_id:
        return _of_id(listing.external_id)
    day = listing.listed_on or day_of(observed_at)
    said = (
        normalised_url(listing.url),
        normalised_title(listing.title),
        listing.amount,
        listing.currency,
        day.isoformat(),
        listing.price_type.value,
    )
    # As JSON, so that no text can be written to look like the end of one field and the beginning of the next.
    return f"hash_{hashlib.sha256(_json(said)).hexdigest()[:DIGITS]}"


def _of_id(external_id: str) -> str:
    # Half a surrogate pair is not printable either, so what is printable can be encoded.
    if external_id.isprintable() and len(external_id.encode()) <= MAX_NAME_BYTES:
        return f"ext_{external_id}"
    return f"exth_{hashlib.sha256(external_id.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _json(said: tuple[object, ...]) -> bytes:
    try:
        return orjson.dumps(said)
    except TypeError:  # half a surrogate pair, or a number of more than 64 bits
        return repr(said).encode("utf-8", "backslashreplace")


def normalised_url(url: str | None) -> str | None:
    """Return an address without query and fragment, spelled as a browser does. What is no address stays as it
    is.
    """
    if url is None:
        return None
    bare = url.strip().partition("#")[0].partition("?")[0]
    try:
        return ada_url.URL(bare).href
    except ValueError:
        return bare


def normalised_title(title: str) -> str:
    """Return a title in lower case, with each run of white space as one space."""
    return " ".join(title.lower().split())

"""A client: where offers are searched, under one name, with what it can be asked for and what its answers
prove.

A client never goes out by itself. It says which request to send, and reads what came back. `read_page`,
`read_detail` and `read_file` are plain functions of values that can be pickled, so that strangers' bytes are
read in a process that can be killed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from thresher.apps.queries.clients.search import Offer, Reach, Search, SearchPage
from thresher.core.errors import ConfigError
from thresher.core.page import Page
from thresher.reading.apis.paging import PRINT_DIGITS
from thresher.reading.apis.request import MAX_VALUE, check_given
from thresher.reading.platforms.calls import Call
from thresher.reading.values.dates import read_date

MAX_TITLE = 300
MAX_NAME = 200
MAX_PLACE = 500
MAX_ID = 200
_ROUNDS = 20_000  # a weak secret must not be guessed from a fingerprint that is stored and shown
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Client:
    """What every client has. `parameters` are the names a query may set, each with a sentence; `env` the
    environment variables that hold its secrets. `terms` is what its provider asks of those who use it.
    `pause` is the least number of minutes between two runs of a query that its provider asks for.
    `local` clients read files, and are asked for `files` and not for a `call`.
    """

    name: str
    title: str
    reach: Reach = field(default_factory=Reach)
    parameters: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    env: tuple[str, ...] = ()
    has_details: bool = False
    takes_text: bool = False
    terms: str = ""
    timezone: str = "UTC"
    pause: int = 0
    local: bool = False

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        """The request for a page of a search; `cursor` is the `next` of the page before, None for the first.
        Raises ConfigError for a secret that is not set, and for a parameter that is wrong.
        """
        raise NotImplementedError

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        """What came back. Never raises for what the page holds."""
        raise NotImplementedError

    def detail_call(self, offer: Offer, env: Mapping[str, str]) -> Call | None:
        """The request for what the list leaves out of an offer; None where there is none."""
        del offer, env
        return None

    def read_detail(self, offer: Offer, page: Page) -> Offer:
        """The offer with what its detail says. Raises Malformed where that is not the detail of this
        offer.
        """
        del page
        return offer

    def files(self, search: Search, folder: Path) -> tuple[str, ...]:
        """The files that a search of a local client reads, each one a page. Raises ConfigError."""
        del search, folder
        return ()

    def read_file(self, search: Search, folder: Path, cursor: str | None) -> SearchPage:
        """One file of a local client: the first, or the one that `cursor` names."""
        raise NotImplementedError

    @property
    def definition(self) -> Any:
        """All that a fingerprint is made of, besides the secrets."""
        return [type(self).__name__, self.name]

    def fingerprint(self, env: Mapping[str, str]) -> str:
        """Another one as soon as the definition or a secret changes. It does not give the secrets away."""
        written = orjson.dumps(
            self.definition, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
        )
        secrets = orjson.dumps([env.get(name, "") for name in self.env])
        return hashlib.pbkdf2_hmac("sha256", secrets, hashlib.sha256(written).digest(), _ROUNDS).hex()[
            :PRINT_DIGITS
        ]

    def checked(self, search: Search) -> dict[str, str]:
        """The parameters of a search with the defaults. Raises ConfigError for one that is not known, and for
        a text where none can be searched for.
        """
        check_given(self.name, self.parameters, search.parameters)
        if search.text and not self.takes_text:
            raise ConfigError(f"{self.name} cannot search for a text; leave the text of the query empty")
        if len(search.text) > MAX_VALUE or not search.text.isprintable():
            raise ConfigError(f"the text of a query is one line of at most {MAX_VALUE} characters")
        return {**self.defaults, **{name: value for name, value in search.parameters.items() if value}}


def read_page(client: Client, search: Search, cursor: str | None, page: Page) -> SearchPage:
    return client.read_page(search, cursor, page)


def read_detail(client: Client, offer: Offer, page: Page) -> Offer:
    return client.read_detail(offer, page)


def read_file(client: Client, search: Search, folder: Path, cursor: str | None) -> SearchPage:
    return client.read_file(search, folder, cursor)


# What clients share in reading offers.


def key_of(offer: Offer) -> str:
    """What tells an offer from the others of its list."""
    posting = offer.posting
    return posting.key or posting.url or f"{posting.title}\n{posting.company}"


def day_of(
    text: str | None, today: date, *, timezone: str = "UTC", day_first: bool | None = None
) -> date | None:
    """The day that a text names for certain. A moment that is a mere number is a day in the client's own time
    zone. A day that has not come yet is nonsense: nothing was posted on it.
    """
    found = read_date(text, today=today, day_first=day_first) if text else None
    if found is None or found.precision != "day" or found.or_earlier:
        return None
    number = (text or "").strip().replace(".", "", 1).isdecimal()
    day = found.at.astimezone(ZoneInfo(timezone)).date() if number and found.at else found.day
    return day if day <= today + _DAY else None


def bounded(offer: Offer) -> Offer:
    """The offer with its short fields cut to what such a field can hold."""
    posting = offer.posting
    return replace(
        offer,
        posting=replace(
            posting,
            title=posting.title[:MAX_TITLE],
            company=_cut(posting.company, MAX_NAME),
            location=_cut(posting.location, MAX_PLACE),
            employment_type=_cut(posting.employment_type, MAX_NAME),
            key=_cut(posting.key, MAX_ID),
        ),
        company_id=_cut(offer.company_id, MAX_ID),
    )


def _cut(text: str | None, length: int) -> str | None:
    line = " ".join(text.split()) if text else ""
    return line[:length].rstrip() or None


def wanted(value: str | None, client: str, name: str, advice: str) -> str:
    """A parameter that a client cannot do without. Raises ConfigError."""
    if not value:
        raise ConfigError(f"{client} needs the parameter {name}: {advice}")
    return value

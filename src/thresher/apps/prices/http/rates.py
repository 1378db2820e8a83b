"""Exchange rates over HTTP: import them from a file that was sent, and show what there is."""

from typing import Annotated, Any

from pydantic import StringConstraints

from thresher.admin.keys import READ, WRITE
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.service import rates
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text, like

MAX_TEXT = 20_000_000  # characters
NAME = "rates.csv"  # what the lines of a file that was sent are called in messages


class RatesFile(RequestBody):
    """A file of rates as text: day, currency and rate, or a column for each currency. 1 of `base` is worth
    the rate of the other currency on that day.
    """

    model_config = like(text="day,currency,rate\n2026-03-02,USD,1.0827\n", base="EUR")

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT)]
    base: Text = "EUR"


async def listed(runtime: CurrentRuntime) -> Camel[list[rates.RatesView]]:
    """List the currencies that have rates, and of which days."""
    return await camel_answer(runtime, lambda: rates.list_rates(runtime.store))


async def import_(runtime: CurrentRuntime, body: RatesFile) -> Camel[rates.RatesImported]:
    """Import exchange rates, all or none. Items with prices in other currencies are valued again."""
    return await camel_answer(
        runtime, lambda: rates.import_rates_text(runtime.store, body.text, NAME, body.base)
    )


_RATES = {"base": "EUR", "currency": "USD", "first": "2020-01-02", "last": "2026-03-02", "count": 1_580}
_IMPORTED: dict[str, Any] = {
    "base": "EUR",
    "rates": 1_580,
    "changed": 12,
    "revalued": 3,
    "currencies": 1,
    "first": "2020-01-02",
    "last": "2026-03-02",
}

ROUTES = (
    Route("GET", "/api/prices/rates", listed, READ, example=[_RATES], probe=True, name="list_rates"),
    Route(
        "POST",
        "/api/prices/rates",
        import_,
        WRITE,
        example=_IMPORTED,
        body_limit=2 * MAX_TEXT,
        name="import_rates",
    ),
)

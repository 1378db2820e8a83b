"""A line of `thresher doctor` and `thresher status`: price alerts that have fired and were told to nobody."""

from thresher.apps.prices.store.alerts import list_alerts, untold_alerts
from thresher.core.clock import MINUTE, SECOND, span
from thresher.core.extension import Check
from thresher.store.store import Store

PATIENCE = 10 * MINUTE  # for a worker to tell what has fired


def check_price_alerts(store: Store) -> list[Check]:
    """Check that somebody is told when a price alert fires."""
    with store.read() as session:
        now = store.backend.now(session)
        number, since = untold_alerts(session, now - PATIENCE)
        wanted = list_alerts(session, limit=1)
    if number:
        which = "1 price alert is" if number == 1 else f"{number:,} price alerts are"
        found = f"{which} open but nobody is told, the first for {span((now - since) / SECOND)}"
        return [
            Check.warn(
                "price alerts",
                found,
                "list somebody under notify: in thresher.yaml, and run a worker",
                "/prices",
            )
        ]
    return [Check.ok("price alerts", "none waits to be told")] if wanted else []


CHECKS = (check_price_alerts,)

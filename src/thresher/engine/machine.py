"""The machine's own kinds of tasks, listed as an app lists its kinds. Every registry knows them besides those
of its apps, so every worker performs them.
"""

from thresher.core.app import App
from thresher.core.backoff import Retry

# A delivery waits 10 seconds, and twice as long after each failure: about two days in all.
RETRIES = Retry(base=10.0, limit=14)

MACHINE = App(
    "thresher",
    pipelines="thresher.engine.webhooks:PIPELINES",
    reads={"webhook": "thresher.store.webhooks:endpoint"},
    retry=RETRIES,
)

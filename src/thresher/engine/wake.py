"""Wake-ups from elsewhere: a thread that listens, so that an idle worker starts at once. Only ever a hint;
the poll is the floor.
"""

import logging
import threading
from collections.abc import Callable

from thresher.store.store import Store

log = logging.getLogger("thresher.wake")


class Wake:
    """Calls `on_wake` when there may be work."""

    def __init__(self, store: Store, on_wake: Callable[[], None], poll: float) -> None:
        self._store, self._on_wake, self._poll = store, on_wake, poll
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="wake", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._store.backend.nudge()
        self._thread.join()

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                if self._store.backend.listen(self._store.backend.dialect.listen_seconds):
                    self._on_wake()
            except Exception as problem:  # noqa: BLE001  whatever it is, listening goes on when the database is back
                log.debug("listening failed: %s", problem)
                self._stop.wait(self._poll)

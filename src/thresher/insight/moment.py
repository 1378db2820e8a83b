"""The database's time, by which ages and waits are told."""

from thresher.store.store import Store


def read_now(store: Store) -> int:
    """What time it is for the queue."""
    with store.read() as session:
        return store.backend.now(session)

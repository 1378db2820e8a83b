"""What the app has found, as everybody reads it."""

import json
from typing import Any

_READ = "select key, data from records where kind = 'tide' order by key"


def levels(store: Any) -> list[dict[str, Any]]:
    """How high the water stands in each harbour."""
    with store.read() as session:
        return [{"harbour": key, **json.loads(data)} for key, data in session.rows(_READ)]

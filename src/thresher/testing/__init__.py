"""Test an app in memory: the real engine on SQLite, a fake web, and a clock that moves only when told to.

    with World(app, pages={"https://a.example/": "<h1>Hello</h1>"}) as world:
        world.enqueue(NewTask("look", url="https://a.example/"))
        world.run_until_idle()
        assert [each.key for each in world.records("page")] == ["https://a.example/"]

Needs no test framework. Opens no connection, and never waits for real time.
"""

from thresher.testing.web import FakeWeb, Reply, Requested
from thresher.testing.world import World

__all__ = ["FakeWeb", "Reply", "Requested", "World"]

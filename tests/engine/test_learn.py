"""Learning a site from what its pages say of themselves, without a model."""

from dataclasses import dataclass, field
from typing import Any

from thresher import App, Done, Field, NewTask, Pipeline, Schema, Stage
from thresher.testing import World

HOST = "https://school.example"
COURSE = Schema("course", (Field("name"), Field("code", required=True), Field("credits"), Field("room")))
WORDS = ("soil", "water", "timber", "glass", "bread", "paper")


def page(number: int, *, labels: bool = True) -> str:
    facts = f"<dt>Code</dt><dd>C-{number}{number}</dd><dt>Credits</dt><dd>{number + 2}</dd>" if labels else ""
    return (
        f"<html><head><title>On {WORDS[number]}</title></head><body><h1>On {WORDS[number]}</h1><dl>{facts}</dl>"
        f"<p>What there is to know about {WORDS[number]}.</p></body></html>"
    )


@dataclass
class Read:
    """What a stage came to that learned from all pages but the last, and read that."""

    fields: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    value: dict[str, Any] = field(default_factory=dict)
    by: str = ""


def learned(pages: dict[str, str]) -> Read:
    found = Read()

    async def perform(ctx: Any) -> Done:
        *taught, last = [await ctx.fetch(url) for url in pages]
        found.fields = await ctx.learn(taught, COURSE, site="school")
        found.again = await ctx.learn(taught, COURSE, site="school")
        if found.fields:
            extract = await ctx.extract(last, COURSE, site="school")
            found.value = {name: value for name, value in extract.value.items() if value}
            found.by = str(extract.by)
        return Done()

    app = App("school", pipelines=(Pipeline("read", Stage(perform)),), schemas=(COURSE,))
    with World(app, pages=pages, settings={"host.interval": 0.0}) as world:
        world.enqueue(NewTask("read"))
        world.run_until_idle()
        assert [each["state"] for each in world.tasks("read")] == ["succeeded"], world.tasks("read")
    return found


def test_pages_that_label_their_fields_teach_how_the_next_one_is_read():
    found = learned({f"{HOST}/{at}": page(at) for at in range(6)})
    assert found.fields == ("code", "credits")
    assert found.again == found.fields, "what is known is not learned again"
    assert found.by == "learned"
    assert found.value == {"code": "C-55", "credits": "7"}


def test_pages_that_say_nothing_of_themselves_teach_nothing():
    found = learned({f"{HOST}/{at}": page(at, labels=False) for at in range(6)})
    assert found.fields == ()

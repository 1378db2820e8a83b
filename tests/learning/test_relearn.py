"""Relearning: a changed site is learned from fresh labels or not at all."""

import pytest

from tests.learning.sites import SHELF, TOOLS, Knobs, boxes, example, page
from thresher.core.schema import Field, Schema
from thresher.learning.extractor import Example, Extractor, LearningRefusal
from thresher.learning.learn import learn, relearn
from thresher.learning.read import read
from thresher.reading.html.document import Document

CHANGED = Knobs(classes="new-", labels="The ")
OLD = [example(boxes, tool) for tool in SHELF[:3]]


def learned() -> Extractor:
    found = learn(TOOLS, OLD)
    assert isinstance(found, Extractor)
    return found


def test_a_changed_site_is_learned_again_from_fresh_labels() -> None:
    before = learned()
    assert read(before, page(boxes, SHELF[5], CHANGED)).drifts
    after = relearn(before, TOOLS, [example(boxes, tool, CHANGED) for tool in SHELF[:3]], OLD)
    assert isinstance(after, Extractor)
    assert after.version == before.version + 1
    assert read(after, page(boxes, SHELF[5], CHANGED)).values == SHELF[5].labels()


@pytest.mark.promise(15)
def test_without_fresh_labels_nothing_is_healed() -> None:
    refused = relearn(learned(), TOOLS, [], OLD)
    assert isinstance(refused, LearningRefusal)
    assert "label 2 or more" in refused.reason


@pytest.mark.promise(15)
def test_a_repair_that_cannot_read_a_field_it_could_read_before_is_refused() -> None:
    """The labels say one brand, the pages another: whoever labelled them looked at something else."""
    fresh = [
        Example(page(boxes, tool, CHANGED), tool.labels() | {"brand": "Nobody & Co"}) for tool in SHELF[:3]
    ]
    refused = relearn(learned(), TOOLS, fresh, OLD)
    assert isinstance(refused, LearningRefusal)
    assert list(refused.fields) == ["brand"]
    assert "check the labels" in refused.reason


@pytest.mark.promise(15)
def test_a_repair_that_contradicts_what_was_known_is_refused() -> None:
    """The fresh pages show one name, and on the old ones it was the seller's that stood there."""
    schema = Schema("s", (Field("maker"),))
    old = [
        Example(_signed(f"Seller {name}", f"Maker {name}"), {"maker": f"Maker {name}"})
        for name in ("Ann", "Bea", "Cid")
    ]
    fresh = [Example(_signed(f"Maker {name}"), {"maker": f"Maker {name}"}) for name in ("Dan", "Eve")]
    before = learn(schema, old)
    assert isinstance(before, Extractor)
    refused = relearn(before, schema, fresh, old)
    assert isinstance(refused, LearningRefusal)
    assert "held back" in refused.fields["maker"]


def _signed(first: str, second: str = "") -> Document:
    more = f'<p class="maker">{second}</p>' if second else ""
    return Document.from_html(f'<h1>Offer</h1><p class="name">{first}</p>{more}<p>Terms</p>')


def test_a_field_that_the_changed_site_no_longer_has_is_told_and_not_invented() -> None:
    fresh = [
        Example(page(boxes, tool, Knobs(classes="n-", without="weight")), tool.labels() | {"weight": None})
        for tool in SHELF[:3]
    ]
    after = relearn(learned(), TOOLS, fresh, OLD)
    assert isinstance(after, Extractor)
    assert "weight" not in after.fields
    assert "none of the freshly labelled pages" in after.unlearned["weight"]


def test_an_extractor_of_another_schema_is_not_repaired() -> None:
    refused = relearn(learned(), Schema("tool", (Field("title"),)), OLD, OLD)
    assert isinstance(refused, LearningRefusal)
    assert "has changed since" in refused.reason


def test_a_field_that_some_pages_lack_is_not_forgotten() -> None:
    """Three pages without a value that every known page had are no new layout."""
    schema = Schema("s", (Field("maker"), Field("weight")))
    old = [_weighed(name, weight) for name, weight in (("Ann", "3 kg"), ("Bea", "14 kg"), ("Cid", "7 kg"))]
    before = learn(schema, old)
    assert isinstance(before, Extractor)
    after = relearn(before, schema, [_weighed(name, None) for name in ("Dan", "Eve", "Fay")], old)
    assert isinstance(after, Extractor)
    assert read(after, _weighed("Gus", "21 kg").document).values == {"maker": "Maker Gus", "weight": "21 kg"}


def _weighed(name: str, weight: str | None) -> Example:
    rows = f"<tr><th>Maker</th><td>Maker {name}</td></tr>"
    rows += f"<tr><th>Weight</th><td>{weight}</td></tr>" if weight else ""
    html = f"<h1>Bench of {name}</h1><p>Made with care.</p><table>{rows}<tr><th>Sort</th><td>Bench</td></tr></table>"
    return Example(
        Document.from_html(html, f"https://a.example/{name}"), {"maker": f"Maker {name}", "weight": weight}
    )

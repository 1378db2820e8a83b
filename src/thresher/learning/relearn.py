"""Relearning: a new extractor for a site that has changed, from pages that somebody has labelled since.

Nothing is healed by likeness. A rule that no longer finds its element is not sent to the nearest one that
looks like it: only fresh labels say where a value stands now, and a repair that leaves doubt is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.core.schema import Field, Schema
from thresher.learning.affix import same_values
from thresher.learning.example import Example
from thresher.learning.extractor import Extractor, LearningRefusal
from thresher.learning.learn import MIN_PAGES, learn
from thresher.learning.read import read
from thresher.learning.wording import says


def relearn(
    extractor: Extractor, schema: Schema, fresh: Sequence[Example], old: Sequence[Example] = ()
) -> Extractor | LearningRefusal:
    """The next version of an extractor, right on all fresh examples; else a refusal that says what is in the
    way.

    `old` are examples from before the change. The new rules need not read them, but a rule that reads them
    wrongly is in doubt.
    """
    if schema.digest != extractor.schema.digest:
        return LearningRefusal(
            f"the extractor was learned for another schema than {schema.name!r} is now: learn the site anew"
        )
    if len(fresh) < MIN_PAGES:
        return LearningRefusal(
            f"{len(fresh)} freshly labelled pages are too few to repair {extractor.site!r}: label {MIN_PAGES} or more"
        )
    found = learn(schema, fresh, held_back=old)
    if isinstance(found, LearningRefusal):
        return found
    if lost := {
        name: found.unlearned[name]
        for name in extractor.fields
        if name in found.unlearned and _is_known(schema[name], fresh)
    }:
        return LearningRefusal(
            f"{', '.join(lost)} cannot be read on the changed pages, and was before: {next(iter(lost.values()))}",
            lost,
        )
    if wrong := dict(_mistakes(found, schema, fresh, must_answer=True)):
        return LearningRefusal(
            f"the new rules are not right on every freshly labelled page: {next(iter(wrong.values()))}", wrong
        )
    if wrong := dict(_mistakes(found, schema, old, must_answer=False)):
        return LearningRefusal(
            f"the new rules say something else than was known of older pages: {next(iter(wrong.values()))}",
            wrong,
        )
    return replace(
        found,
        version=extractor.version + 1,
        site=extractor.site or found.site,
        unlearned=_told(extractor, found),
    )


def _is_known(field: Field, fresh: Sequence[Example]) -> bool:
    return any(example.truths(field) for example in fresh)


def _told(extractor: Extractor, found: Extractor) -> Mapping[str, str]:
    gone = "it stands on none of the freshly labelled pages, and did before the change"
    return {name: gone if name in extractor.fields else why for name, why in found.unlearned.items()}


def _mistakes(
    extractor: Extractor, schema: Schema, examples: Sequence[Example], *, must_answer: bool
) -> Iterator[tuple[str, str]]:
    for example in examples:
        reading = read(extractor, example.document)
        for field in schema.fields:
            truths, said = example.truths(field), reading.values.get(field.name)
            if (
                field.name not in extractor.fields
                or field.name not in example.labels
                or (said is None and not (truths and must_answer))
            ):
                continue
            if said is None or not _is_right(said, truths):
                yield (
                    field.name,
                    f"{field.name} is {truths[:1]} on {example.document.url or 'a page'}, and is read as {said!r}",
                )


def _is_right(said: object, truths: Sequence[object]) -> bool:
    if isinstance(said, list):
        return same_values([str(each) for each in said], truths)
    return any(says(str(said), truth) or said == truth for truth in truths)

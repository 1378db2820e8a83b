"""Learn rules for all pages of a site, and patterns of values, from a few pages whose values are known; learn
them again when the site has changed.

A rule counts only if it is right on every page that has the value and silent on the others: a site has
thousands of pages, and a rule that is wrong on one in three is wrong on a third of them. Rules that rely on
different things are kept side by side, to check each other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from thresher.core.schema import Field, Schema
from thresher.learning.affix import WHOLE, Affix, fit, fit_list, same_values
from thresher.learning.candidate import candidates, lines, occurrences, weight
from thresher.learning.distinction import distinction
from thresher.learning.extractor import Example, Extractor, FieldRules, LearningRefusal
from thresher.learning.frame import (
    alike_neighbours,
    apart,
    follows_alike,
    frame,
    is_item,
    is_run,
)
from thresher.learning.landmark import landmarks, skeleton, window
from thresher.learning.locator import Family, Hit, Line, Locator, Pattern, distinct
from thresher.learning.outline import Outline
from thresher.learning.read import read
from thresher.learning.rule import Rule, is_attribute, leaf_of
from thresher.learning.shape import shape
from thresher.learning.table import as_table, row_examples
from thresher.learning.title_overlap import echo, usual_echo
from thresher.learning.wording import says, squeezed

# Patterns: the values of a field as a regular expression, where that tells them from other texts.

_RUNS = re.compile(r"\d+|[^\W\d_]+|\s+|[^\w\s]|_")
MAX_RUNS = 30
MAX_LENGTH = 80
MIN_DIGITS = 4  # shorter numbers stand everywhere


def pattern(values: Sequence[str]) -> str | None:
    """The expression that all values fit; None where they have no look of their own."""
    if not values or any(len(value) > MAX_LENGTH for value in values):
        return None
    runs = [_RUNS.findall(" ".join(value.split())) for value in values]
    if len({len(each) for each in runs}) != 1 or len(runs[0]) > MAX_RUNS:
        return None
    pieces = [_piece(column) for column in zip(*runs, strict=True)]
    if (
        any(piece is None for piece in pieces)
        or min(sum(char.isdecimal() for char in value) for value in values) < MIN_DIGITS
    ):
        return None
    return rf"(?<![\w.,]){''.join(piece for piece in pieces if piece)}(?!\w|[.,]\d)"


def _piece(column: Sequence[str]) -> str | None:
    if all(each.isdecimal() for each in column):
        lengths = {len(each) for each in column}
        return (
            rf"\d{{{min(lengths)}}}"
            if len(lengths) == 1 and min(lengths) > 2
            else rf"\d{{1,{max(lengths) + 1}}}"
        )
    if len(set(column)) > 1:
        return None
    return r"\s+" if column[0].isspace() else re.escape(column[0])


MAX_EXAMPLES = 30
MAX_WITNESSES = 4
MAX_KIN = 3  # rules that lean on one label: the next is asked where the first is silent
MAX_LINE_RULES = 200
MIN_PAGES = 2  # pages: what was seen once may be chance


@dataclass(frozen=True, slots=True)
class Lesson:
    """An example opened for learning."""

    example: Example
    outline: Outline

    def truths(self, field: Field) -> tuple[Any, ...]:
        return self.example.truths(field)


def learn(
    schema: Schema, examples: Sequence[Example], *, held_back: Sequence[Example] = ()
) -> Extractor | LearningRefusal:
    """An extractor for the site of the examples; a refusal where no field could be learned.

    `held_back` are examples that no rule is made from: a rule that is wrong on one of them is dropped.
    """
    if schema.many:
        return _learn_table(schema, examples, held_back)
    lessons = [Lesson(each, Outline(each.document)) for each in examples[:MAX_EXAMPLES]]
    checks = [Lesson(each, Outline(each.document)) for each in held_back[:MAX_EXAMPLES]]
    if len(lessons) < MIN_PAGES:
        return LearningRefusal(
            f"{len(lessons)} example pages are too few to tell a rule from chance: give at least {MIN_PAGES}, better 3 or more"
        )
    outlines, values = [each.outline for each in lessons], _known_values(schema, lessons)
    marks = landmarks(outlines, values)
    learned: dict[str, FieldRules] = {}
    unlearned: dict[str, str] = {}
    for field in schema.fields:
        found = _FieldLearner(field, lessons, checks, marks).learn()
        if isinstance(found, FieldRules):
            learned[field.name] = found
        else:
            unlearned[field.name] = found
    if not learned:
        return LearningRefusal(
            f"no field of {schema.name!r} could be learned from these {len(lessons)} pages: label other pages of the site, "
            "or check that the labels say what the pages say",
            unlearned,
        )
    return Extractor(
        site=urlsplit(examples[0].document.url).hostname or "",
        schema=schema,
        fields=learned,
        unlearned=unlearned,
        skeleton=skeleton(outlines, values, marks),
        pages=len(lessons),
    )


def _learn_table(
    schema: Schema, examples: Sequence[Example], held_back: Sequence[Example]
) -> Extractor | LearningRefusal:
    """Of pages that show several things: what a row is, and the rules within it."""
    if not examples:
        return LearningRefusal(
            "there is no example page: give at least one, with its things labelled under items"
        )
    found = row_examples(schema, examples[:MAX_EXAMPLES])
    if isinstance(found, LearningRefusal):
        return found
    selector, rows = found
    kept = row_examples(schema, held_back[:MAX_EXAMPLES]) if held_back else None
    checks = kept[1] if kept is not None and not isinstance(kept, LearningRefusal) else ()
    extractor = learn(replace(schema, many=False), rows, held_back=checks)
    return (
        as_table(extractor, schema, selector, len(examples))
        if isinstance(extractor, Extractor)
        else extractor
    )


def _known_values(schema: Schema, lessons: Sequence[Lesson]) -> set[str]:
    return {
        squeezed(str(truth))
        for lesson in lessons
        for field in schema.fields
        for truth in lesson.truths(field)
    }


class _FieldLearner:
    """One field: which lessons have it, which candidates are right on all of them, which of those to keep."""

    def __init__(
        self,
        field: Field,
        lessons: Sequence[Lesson],
        checks: Sequence[Lesson],
        marks: Mapping[str, Sequence[int]],
    ) -> None:
        self.field = field
        self.all = lessons
        self.checks = checks
        self.marks = marks
        self.numbers = [at for at, each in enumerate(lessons) if each.truths(field)]
        self.denied = [each for each in lessons if each.example.denies(field)]
        self.constant = (
            set.intersection(*(set(lessons[at].outline.keys) for at in self.numbers))
            if self.numbers
            else set()
        )

    def learn(self) -> FieldRules | str:
        if self.field.judged:
            return "it is a judgement, and does not appear in a page"
        if len(self.numbers) < MIN_PAGES:
            return (
                f"its value is known on {len(self.numbers)} of the pages, but checking a rule needs "
                f"{MIN_PAGES}: label more pages"
            )
        found = [rule for locator in self._candidates() if (rule := self._rule(locator)) is not None]
        if not found and not (found := self._lines()):
            return (
                "no rule is right on every page where its value is known, or only its position "
                "distinguishes it from other text: check the labels, or label more pages with the "
                "same layout"
            )
        steady = [rule for rule in found if rule.steady] or self._lines()
        if not steady:
            return (
                "only its order distinguishes it from its neighbours, and a change of order would go "
                "unnoticed: ask for it in another way"
            )
        kept = [rule for rule in steady if all(self._right(rule, each) for each in self.checks)]
        if not kept:
            return (
                "every rule that fits the examples is wrong on a page held back to check it: label more pages"
            )
        return self._chosen(kept)

    def _candidates(self) -> list[Locator]:
        pages = [self.all[at] for at in self.numbers]
        found: dict[Locator, None] = {}
        for lesson in pages[:2]:
            for locator in candidates(lesson.outline, lesson.truths(self.field), self.constant):
                found.setdefault(locator)
        return [*found, *self._patterns(pages)]

    def _lines(self) -> list[Rule]:
        """Rules by the number of a line, where nothing better is known."""
        if self.field.many:
            return []
        lesson = self.all[self.numbers[0]]
        found = islice(dict.fromkeys(lines(lesson.outline, lesson.truths(self.field))), MAX_LINE_RULES)
        rules = (rule for locator in found if (rule := self._rule(locator)) is not None)
        return [rule for rule in rules if rule.steady]

    def _patterns(self, pages: Sequence[Lesson]) -> Iterator[Pattern]:
        """How the value is written, on the whole page or between the landmarks around it."""
        written = None if self.field.many else pattern([str(each.truths(self.field)[0]) for each in pages])
        if written is None:
            return
        yield Pattern(written)
        lesson, number = pages[0], self.numbers[0]
        places = [
            each.first
            for each in occurrences(lesson.outline, lesson.truths(self.field)[:1])
            if each.first is not None
        ]
        for place in places[:5]:
            before = max((at[number] for at in self.marks.values() if at[number] < place), default=None)
            after = min((at[number] for at in self.marks.values() if at[number] > place), default=None)
            leaves = lesson.outline.leaves
            yield Pattern(
                written,
                leaves[before].key if before is not None else "",
                leaves[after].key if after is not None else "",
            )

    def _rule(self, locator: Locator) -> Rule | None:
        hits = []
        for at in self.numbers:
            found = distinct(locator.find(self.all[at].outline))
            if not found or (len(found) > 1 and not self.field.many):
                return None
            hits.append(found)
        truths = [self.all[at].truths(self.field) for at in self.numbers]
        part = self._part([[hit.text for hit in found] for found in hits], truths)
        if part is None:
            return None
        rule = Rule(locator, part, weight=weight(self.field, locator, part.whole))
        if any(rule.find(self.field, each.outline) is not None for each in self.denied):
            return None
        return rule if is_attribute(rule) else self._guarded(rule, hits, truths)

    def _part(self, texts: list[list[str]], truths: list[tuple[Any, ...]]) -> Affix | None:
        if self.field.many:
            if all(same_values(each, right) for each, right in zip(texts, truths, strict=True)):
                return WHOLE
            return (
                fit_list([each[0] for each in texts], truths)
                if all(len(each) == 1 for each in texts)
                else None
            )
        return fit([each[0] for each in texts], truths)

    def _guarded(self, rule: Rule, hits: Sequence[Sequence[Hit]], truths: Sequence[tuple[Any, ...]]) -> Rule:
        """The rule with what its places have in common on all pages."""
        outlines = [self.all[at].outline for at in self.numbers]
        places = [leaf_of(outline, found[0]) for outline, found in zip(outlines, hits, strict=True)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            return rule
        marks = {key: [at[number] for number in self.numbers] for key, at in self.marks.items()}
        inner = [frame(outline, hit) for outline, found in zip(outlines, hits, strict=True) for hit in found]
        keys = [{squeezed(str(truth)) for truth in right} for right in truths]
        # Where pages share a value they may well share the next item of its list: that is then no label.
        shared = len({found[0].text for found in hits}) == 1
        listed = all(is_item(outline, found[0]) for outline, found in zip(outlines, hits, strict=True))
        constant = () if shared and listed else self.constant
        ordered = isinstance(rule.locator, Line) or (
            not self.field.many
            and any(
                follows_alike(outline, found[0], constant, own)
                for outline, found, own in zip(outlines, hits, keys, strict=True)
            )
        )
        shown = [found[0].text for found in hits]
        guarded = replace(
            rule,
            whole=not self.field.many
            and all(
                is_run(outline, found[0], rule.part.take(found[0].text)[0])
                for outline, found in zip(outlines, hits, strict=True)
            ),
            apart=max(apart(outline, found) for outline, found in zip(outlines, hits, strict=True)),
            window=window(known, marks),
            tags=frozenset(each.tag for each in inner),
            single=all(each.leaves == 1 for each in inner),
            ordered=ordered,
        )
        if not guarded.needs_telling or guarded.part != WHOLE:
            return guarded
        around = (
            text
            for outline, found, own in zip(outlines, hits, keys, strict=True)
            for text in alike_neighbours(outline, found[0], self.constant, own)
        )
        return replace(guarded, told=distinction(shown, list(around)))

    def _right(self, rule: Rule, lesson: Lesson) -> bool:
        """Whether a rule says nothing wrong on a page. To be silent is to be incomplete, not wrong."""
        found = rule.find(self.field, lesson.outline)
        if found is None or self.field.name not in lesson.example.labels:
            return True
        truths = lesson.truths(self.field)
        if self.field.many:
            return same_values(found.texts, truths)
        return any(says(found.texts[0], truth) for truth in truths)

    def _chosen(self, rules: Sequence[Rule]) -> FieldRules:
        ordered = sorted(rules, key=lambda rule: -rule.weight)
        said = [self._said(ordered[0], at) for at in self.numbers]
        # A value may stand on a page in two wordings. The rules of a field must all speak of the same one, or
        # they contradict each other.
        same = [rule for rule in ordered if [self._said(rule, at) for at in self.numbers] == said]
        texts = [
            found.texts for at in self.numbers if (found := ordered[0].find(self.field, self.all[at].outline))
        ]
        known = [each for each in self.all if self.field.name in each.example.labels]
        checked = len(self.numbers) + len(self.checks)
        return FieldRules(
            rules=tuple(witnesses(same)),
            shape=shape(
                self.field,
                [text for each in texts for text in each],
                pages=len(self.numbers),
                seen=len(known),
            ),
            score=round(checked / (checked + 1), 3),
            echo=usual_echo(
                [echo(self.all[at].outline, each) for at, each in zip(self.numbers, texts, strict=True)]
            ),
        )

    def _said(self, rule: Rule, at: int) -> tuple[str, ...]:
        found = rule.find(self.field, self.all[at].outline)
        return tuple(squeezed(text) for text in found.texts) if found else ()


def witnesses(ordered: Sequence[Rule]) -> list[Rule]:
    """Of rules that are all right, those to keep: the best of each that leans on something else.

    Loose contexts are kept where nothing says the value alone.
    """
    firm = [rule for rule in ordered if rule.part.firm] or list(ordered)
    kept: dict[Any, list[Rule]] = {}
    for rule in firm:
        kin = kept.setdefault(rule.kin, [])
        if len(kin) < (MAX_KIN if rule.family is Family.LABEL else 1):
            kin.append(rule)
    return [rule for kin in islice(kept.values(), MAX_WITNESSES) for rule in kin]


# Relearning: a new extractor for a site that has changed, from pages that somebody has labelled since.


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
            f"the schema {schema.name!r} has changed since the extractor was learned: learn the site again"
        )
    if len(fresh) < MIN_PAGES:
        return LearningRefusal(
            f"{len(fresh)} freshly labelled pages are too few to repair {extractor.site!r}: label {MIN_PAGES} or more"
        )
    if (both := _of_both(extractor, schema, fresh, old)) is not None:
        return replace(both, version=extractor.version + 1, site=extractor.site or both.site)
    found = learn(schema, fresh, held_back=old)
    if isinstance(found, LearningRefusal):
        return found
    if lost := {
        name: found.unlearned[name]
        for name in extractor.fields
        if name in found.unlearned and _is_known(schema[name], fresh)
    }:
        return LearningRefusal(
            f"{', '.join(lost)} can no longer be read on the changed pages: {next(iter(lost.values()))}",
            lost,
        )
    if wrong := dict(_mistakes(found, schema, fresh, must_answer=True)):
        return LearningRefusal(
            f"the new rules are not right on every freshly labelled page: {next(iter(wrong.values()))}", wrong
        )
    if wrong := dict(_mistakes(found, schema, old, must_answer=False)):
        return LearningRefusal(
            f"the new rules contradict what was known of older pages: {next(iter(wrong.values()))}",
            wrong,
        )
    return replace(
        found,
        version=extractor.version + 1,
        site=extractor.site or found.site,
        unlearned=_told(extractor, found),
    )


def _of_both(
    extractor: Extractor, schema: Schema, fresh: Sequence[Example], old: Sequence[Example]
) -> Extractor | None:
    """One extractor for the fresh pages and the old ones, if there is one that loses no field and makes no
    mistake: then nothing has changed, and the fresh pages only lack what the others happened to have.
    """
    found = learn(schema, [*fresh, *old]) if old else None
    if not isinstance(found, Extractor) or not extractor.fields.keys() <= found.fields.keys():
        return None
    wrong = next(_mistakes(found, schema, [*fresh, *old], must_answer=True), None)
    return found if wrong is None else None


def _is_known(field: Field, fresh: Sequence[Example]) -> bool:
    return any(example.truths(field) for example in fresh)


def _told(extractor: Extractor, found: Extractor) -> Mapping[str, str]:
    gone = "it is on none of the freshly labelled pages, unlike before the change"
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
                    f"{field.name} is {truths[:1]} on {example.document.url or 'a page'}, but read as {said!r}",
                )


def _is_right(said: object, truths: Sequence[object]) -> bool:
    if isinstance(said, list):
        return same_values([str(each) for each in said], truths)
    return any(says(str(said), truth) or said == truth for truth in truths)

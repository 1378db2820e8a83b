"""The vote on a field: what its rules say about one page, and whether to believe it.

All rules of a field are asked. Those that answer must agree, stand where such values stand, and have their
shape; a single answer counts only if there was never more than one rule and everything around it is as it
was. Otherwise the field has a drift and no value.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.core.evidence import Place
from thresher.core.schema import Field
from thresher.learning.drift import Drift, Sign
from thresher.learning.extractor import Extractor, FieldRules
from thresher.learning.frame import alike_neighbours, apart, follows_alike, frame, is_run
from thresher.learning.landmark import Stand
from thresher.learning.locator import Family
from thresher.learning.outline import Outline
from thresher.learning.rule import Rule, RuleMatch, is_attribute, place
from thresher.learning.shape import Shape, look
from thresher.learning.title_overlap import unheard
from thresher.learning.wording import squeezed, value_of

KEPT = 0.6  # share of the skeleton, below which a page is another one
NEAR = 2  # levels above several values: where no known page had several, one element around them
DOUBLED = 0.05  # share of it, above which a page may show several things
SEVERAL = 0.1  # and above which it does
AROUND = 0.25  # share of the landmarks around a value, above which there are several such places


# Both look at the text behind a label: what came in between, if it looks the part, deceives both.
_LOOKING = frozenset({Family.LABEL, Family.PATTERN})

# What speaks of the thing that the page is about, however many the page shows.
_ABOUT_THE_PAGE = frozenset({Family.DATA, Family.META})


@dataclass(frozen=True, slots=True)
class VoteResult:
    """What is believed of a field: its value, where each of its values stands, and how sure that is. `texts`
    are as they stand.
    """

    value: Any
    texts: tuple[str, ...]
    places: Mapping[str, Place | None]
    confidence: float


class Vote:
    """One page under one extractor. Fields are heard one by one; what was odd about one is remembered against
    the others.
    """

    def __init__(self, extractor: Extractor, outline: Outline) -> None:
        self.outline = outline
        self.kept = extractor.skeleton.kept(outline)
        self.doubled = extractor.skeleton.doubled(outline)
        self.constant = frozenset((*extractor.skeleton.once, *extractor.skeleton.often))
        self.claimed: set[str] = set()  # values that the rules of one field could not agree on
        self.strangers: list[Shape] = []  # shapes of fields in whose place something else stands
        self.echoed = self.unheard = 0  # fields that the head should know of, and those of which it does not
        self.asides = [at for at in outline.asides if outline.leaves[at].key not in self.constant]

    @property
    def changed(self) -> bool:
        return self.kept < KEPT or self.doubled > DOUBLED

    def drifts(self) -> Iterator[Drift]:
        if self.kept < KEPT:
            yield Drift(
                Sign.SKELETON,
                None,
                f"only {self.kept:.0%} of the texts that all known pages share are on this one",
            )
        if self.doubled > DOUBLED:
            yield Drift(
                Sign.SKELETON,
                None,
                f"{self.doubled:.0%} of the texts that appear once on every known page appear twice "
                "on this one",
            )

    def field(self, each: Field, rules: FieldRules) -> VoteResult | Drift | None:
        heard = list(self._heard(each, rules))
        answers = [(rule, found) for rule, found in heard if not found.torn]
        torn = {rule.family for rule, found in heard if found.torn}
        if not answers:
            return self._absent(
                each, rules, f"{each.name} is on every known page, but no rule finds it on this one"
            )
        if all(rules.shape.lacks_value(text) for _, found in answers for text in found.texts):
            return self._absent(each, rules, f"{each.name}: the page says {answers[0][1].texts[0][:60]!r}")
        self._listen(rules, answers)
        doubt = next(
            (
                doubt
                for rule, found in answers
                if (doubt := self._doubt(each, rules, rule, found)) is not None
            ),
            None,
        )
        if doubt is not None:
            self.strangers += [rules.shape] if doubt.sign in (Sign.SHAPE, Sign.RANGE) else []
            return doubt
        if len({_key(found) for _, found in answers}) > 1:
            self.claimed.update(squeezed(text) for _, found in answers for text in found.texts)
            said = " / ".join(dict.fromkeys(", ".join(found.texts)[:60] for _, found in answers))
            return Drift(Sign.DISAGREEMENT, each.name, f"the rules of {each.name} disagree: {said}")
        if not self._sure(each, rules, answers, torn):
            return Drift(
                Sign.UNSURE,
                each.name,
                f"only one rule finds {each.name}, and too much around it has changed",
            )
        return self._value(each, rules, answers)

    def _absent(self, each: Field, rules: FieldRules, says: str) -> Drift | None:
        """A field without a value: a drift where every known page had one."""
        return Drift(Sign.MISSING, each.name, says) if rules.shape.always_there else None

    def crossed(self, each: Field, rules: FieldRules, heard: VoteResult) -> Drift | None:
        """Whether a value seems to be another field's: one of those that it lost, or one that looks like them
        and not like ours.
        """
        for text in heard.texts:
            if squeezed(text) in self.claimed:
                return Drift(
                    Sign.DISAGREEMENT,
                    each.name,
                    f"{text[:60]!r} is claimed by the rules of {each.name} and of another field",
                )
            found = look(text)
            if found not in rules.shape.looks and any(found in shape.looks for shape in self.strangers):
                return Drift(
                    Sign.SHAPE, each.name, f"{each.name} {text[:60]!r} looks like what another field has lost"
                )
        return None

    def _heard(self, each: Field, rules: FieldRules) -> Iterator[tuple[Rule, RuleMatch]]:
        """What each witness says; of kin, the first that has an answer speaks."""
        heard: set[tuple[str, str]] = set()
        for rule in rules.rules:
            if rule.kin not in heard and (found := rule.hear(each, self.outline)) is not None:
                if not found.torn:
                    heard.add(rule.kin)
                yield rule, found

    def _listen(self, rules: FieldRules, answers: Sequence[tuple[Rule, RuleMatch]]) -> None:
        """Whether the head of the page says what its body says, as it does on every known page."""
        shown = next((found for rule, found in answers if rule.family is not Family.META), None)
        if shown is not None and rules.echo:
            self.echoed += 1
            self.unheard += unheard(self.outline, shown.texts, rules.echo)

    def _doubt(self, each: Field, rules: FieldRules, rule: Rule, found: RuleMatch) -> Drift | None:
        if found.stand is Stand.WRONG:
            return Drift(
                Sign.DISPLACED,
                each.name,
                f"{each.name} is found on the other side of its usual neighbours",
            )
        aside = next((at for at in self.asides if found.leaf is not None and at < found.leaf), None)
        if aside is not None:
            under = self.outline.leaves[aside].text[:60]
            return Drift(
                Sign.DISPLACED,
                each.name,
                f"{each.name} is found under the heading {under!r}, which no known page has",
            )
        if rule.single and any(frame(self.outline, hit).leaves != 1 for hit in found.hits):
            return Drift(
                Sign.SHAPE, each.name, f"{each.name} is surrounded by other text, where it used to be alone"
            )
        if rule.whole and not is_run(self.outline, found.hits[0], found.texts[0]):
            return Drift(
                Sign.SHAPE, each.name, f"{each.name} is more or less than one text, where it used to be one"
            )
        if rule.told and not self._told(rule, found):
            return Drift(
                Sign.UNSURE,
                each.name,
                f"only its order says that {found.texts[0][:60]!r} is the {each.name}, and not how it looks",
            )
        for text in found.texts:
            if squeezed(text) in self.constant:
                return Drift(
                    Sign.SHAPE,
                    each.name,
                    f"{text[:60]!r} is on every page of the site, so it is not a {each.name}",
                )
            if rules.shape.lacks_value(text):
                return Drift(Sign.SHAPE, each.name, f"{each.name} {text[:60]!r} says that there is none")
            if complaint := rules.shape.complaint(text):
                return Drift(Sign.SHAPE, each.name, f"{each.name} {text[:60]!r} {complaint}")
            if complaint := rules.shape.out_of_range(text):
                return Drift(Sign.RANGE, each.name, f"{each.name} {complaint}")
            if value_of(each, text, self.outline.document) is None:
                return Drift(Sign.SHAPE, each.name, f"{each.name} {text[:60]!r} is not a {each.kind}")
        return None

    def _sure(
        self,
        each: Field,
        rules: FieldRules,
        answers: Sequence[tuple[Rule, RuleMatch]],
        torn: Collection[Family],
    ) -> bool:
        """Two witnesses of different kinds that agree are enough.

        One alone must be the only one there ever was, and everything around it as it was. `torn` are the
        kinds of those that find several texts, where each found one before: something was added.
        """
        families = {rule.family for rule, _ in answers}
        if each.many and (
            self.doubled > DOUBLED
            or not all(self._framed(rule, found) and self._together(rule, found) for rule, found in answers)
        ):
            return False  # all witnesses would bring what came in between
        if families.isdisjoint(_ABOUT_THE_PAGE) and self._several(answers):
            return False  # this thing may lack what another one has
        if len(families) > 1 and not (families <= _LOOKING and self._joined(answers)):
            return True
        # A pattern is silent as soon as a month has another name, and torn where a text names a second day:
        # that alone says nothing.
        silent = (
            {rule.family for rule in rules.rules} - {rule.family for rule, _ in answers} - {Family.PATTERN}
        )
        return (
            not silent
            and not set(torn) - {Family.PATTERN}
            and not self.changed
            and all(self._as_ever(rules, rule, found) for rule, found in answers)
        )

    def _as_ever(self, rules: FieldRules, rule: Rule, found: RuleMatch) -> bool:
        """Whether an answer looks as answers did, and stands in what they stood in, beside what they stood
        beside.
        """
        if any(rules.shape.complaint(text, strictly=True) for text in found.texts):
            return False
        if found.stand is Stand.TIGHT or not rule.tags or rule.spells:
            return True
        if not rule.ordered and follows_alike(self.outline, found.hits[-1], self.constant):
            return False
        near = found.stand is not Stand.INSIDE or rule.window.adjoins(self.outline, found.leaf)
        return near and self._framed(rule, found)

    def _several(self, answers: Sequence[tuple[Rule, RuleMatch]]) -> bool:
        """Whether the page shows several things, of which the values may be one's or the other's."""
        return self.doubled > SEVERAL or any(
            rule.window.repeated(self.outline) > AROUND for rule, _ in answers
        )

    def _joined(self, answers: Sequence[tuple[Rule, RuleMatch]]) -> bool:
        """Whether a text stands behind the value that looks the same, where none stood before."""
        return any(
            rule.family is Family.LABEL
            and not rule.ordered
            and found.stand is not Stand.TIGHT
            and follows_alike(self.outline, found.hits[-1], self.constant)
            for rule, found in answers
        )

    def _told(self, rule: Rule, found: RuleMatch) -> bool:
        """Whether a value, and none of its neighbours, shows that it is the value."""
        own = {squeezed(text) for text in found.texts}
        around = alike_neighbours(self.outline, found.hits[0], self.constant, own)
        return all(map(rule.told.holds, found.texts)) and not any(map(rule.told.holds, around))

    def _together(self, rule: Rule, found: RuleMatch) -> bool:
        """Whether several values stand as near to each other as they did."""
        return apart(self.outline, found.hits) <= max(rule.apart, NEAR)

    def _framed(self, rule: Rule, found: RuleMatch) -> bool:
        return not rule.tags or all(frame(self.outline, hit).tag in rule.tags for hit in found.hits)

    def _value(self, each: Field, rules: FieldRules, answers: Sequence[tuple[Rule, RuleMatch]]) -> VoteResult:
        rule, found = next(
            ((rule, found) for rule, found in answers if found.leaf is not None and not is_attribute(rule)),
            answers[0],
        )
        spoken = [value_of(each, text, self.outline.document) for text in found.texts]
        names = [f"{each.name}.{at}" for at in range(len(spoken))] if each.many else [each.name]
        places = {
            name: place(self.outline, text, hit, rule)
            for name, text, hit in zip(names, found.texts, found.hits, strict=True)
        }
        families = len({rule.family for rule, _ in answers})
        silent = 1 - len(answers) / len(rules.rules)
        confidence = round(max(0.1, min(0.99, rules.score + 0.1 * (families - 1) - 0.3 * silent)), 2)
        return VoteResult(spoken if each.many else spoken[0], found.texts, places, confidence)


def _key(found: RuleMatch) -> tuple[str, ...]:
    return tuple(squeezed(text) for text in found.texts)

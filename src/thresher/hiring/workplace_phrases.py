"""The phrases that speak of a workplace, and those that only seem to: what stands before and behind each
word.

Each pattern is tried at one place of a flat text: those that end in `$` on the few characters before a word,
the others right behind it. None is searched for in a whole description.
"""

import re

NO = (
    r"\b(?:no|not|non|isn't|is not|aren't|cannot|can't|won't|never|without|nor|unable to|don't|doesn't|kein|keine|nicht|pas de)\b"
    r"(?! only)(?:[ -](?:a|an|be|to|offer|offering|allow|allowed|support|supporting|available|eligible|open|able|work|working|for|"
    r"consider|considering|"
    r"done|performed|as|currently|possible|provide|any|the|of|accept|accepting|hire|hiring|sponsor|have)){0,5}[ -]$"
)
NEGATED_BEFORE = re.compile(NO)
NEGATED_BEHIND = re.compile(
    r"(?:ly)?(?:[- ](?:work|working|position|role|option|options|employment|candidates|arrangements?|applicants|roles|jobs|location|"
    r"locations))?(?: (?:is|are|will|can|may|in this role is))?"
    r" ?(?:not|n't|cannot|unavailable|: ?no\b|isn't|aren't|nicht|currently not|\(?no\))\b(?! only| just| require| need)"
)
FULLY_BEFORE = re.compile(r"(?:fully|100 ?%|completely|entirely|permanently|all|zu 100 ?%|exclusively)[ -]$")
NOT_FULLY_BEFORE = re.compile(
    r"\b(?:not|isn't|no|never)\b[^.\n]{0,20}(?:fully|100 ?%|completely|entirely)[ -]$"
)
REMOTE_BEHIND = re.compile(
    r"(?:-first|-only| first\b| only\b|[ -](?:position|role|job|opportunity|opening|based|employee|employment|contract)\b|"
    r" ?(?:within|anywhere|across|in|from|throughout) (?:the |any|anywhere|our |your |one of|us\b|usa\b|uk\b|u\.s|canada|united|eu\b|"
    r"europe|germany|north|latin|deutschland)|"
    r" ?[-(:,] ?(?:us\b|usa\b|u\.s|united states|uk\b|canada|emea\b|eu\b|europe|germany|anywhere|worldwide|global|north america|latam|"
    r"americas))"
)
GENERAL_BEHIND = re.compile(
    r"(?:ly)?[ ,]{1,2}(?:(?:options? )?\(?depending|employees|workers|staff|and hybrid|or hybrid (?:team|employ|work)|, hybrid|"
    r"where possible|if possible)"
)
GENERAL_BEFORE = re.compile(
    r"\b(?:for|with|all|our|other) (?:positions|roles|employees|candidates|applicants|jobs)\b[^.\n]{0,20}$"
)
# Said under a condition, or as something that may be asked for: then it is not known.
CONDITION_BEFORE = re.compile(
    r"\b(?:unless|if|except|whether|approved|approval|request|some|occasional|occasionally|possibility|opportunity to|option to|"
    r"options for|"
    r"ability to|chance to|flexibility to|flexible|either|exceptions?)\b[^.\n]{0,40}$"
)
CLOUD_BEFORE = re.compile(r"\b(?:on-?prem\w*|cloud|private|public)(?:[ ,/]| and| or){1,3}$")
MAYBE_BEFORE = re.compile(
    r"\b(?:potential|potentially|transition\w*|future|eventually|later|option of|other)\b[^.\n]{0,20}$"
)
REMOTELY_BEHIND = re.compile(
    r"ly (?:from|within|in|anywhere|across|throughout|based)\b|ly(?: full[- ]time)?[.,;)\n]"
)
REMOTE_BEFORE = re.compile(
    r"(?:(?:\b(?:role|position|job|opportunity|opening|team|company|we|workplace|location|locations|workplace type|work type|"
    r"work arrangement|work location|"
    r"arbeitsort|standort|ort)(?: ?(?:type|policy))?(?: (?:is|are|will be|can be|may be|be|offered as))?(?: (?:a|an|either|primarily|"
    r"currently))?|"
    r"\b(?:this is|it is|it's) (?:a|an)(?: (?:full[- ]time|permanent|contract|us|part[- ]time))?,?|\bwork(?:ing)?|\boperate|"
    r"\bcan be(?: done| performed)?|\bfull[- ]time)"
    r" ?[:-]? ?)$"
)
LINE_REMOTE = re.compile(
    r"(?:^|[\n(|•] ?)(?:[-#>] ?)?$"
)  # a line, a bracket or a list item that begins with the word
LINE_ENDS = re.compile(r" ?(?:[\n)|•]|$|-? ?\(?us|, |-friendly)")
THING_BEHIND = re.compile(
    r"(?:ly)?[- ](?:sens|access|control|desktop|procedure|server|support|monitor|patient|site|area|diagnos|team|colleague|office|debug|"
    r"system|hands|repositor|data|"
    r"source|user|interview|assist|view|deposit|operation|worker|culture|communit|device|execution|code|teammates|staff|friendly|"
    r"options?\b|stipend|allowance|"
    r"customer|location|village|region|learning|session|meeting|collab)|(?:ly)?[- ](?:and|or) (?:on-?site|in-?person|distributed|local|"
    r"hybrid) (?:team|colleague|customer|client|meeting)"
)
SOME_DAYS = re.compile(
    r"(?:[1-4]|one|two|three|four|ein|zwei|drei|vier)(?: ?(?:-|to|or|/) ?(?:[2-4]|two|three|four))?(?: ?\([1-4]\))?(?:\+| or more|"
    r" full)? ?(?:days?|tage)"
    r"(?: ?(?:per|a|each|/|every|pro|in der|of the|out of the)? ?(?:work ?)?(?:week|wk|woche))?"
)
EVERY_DAY = re.compile(r"\b(?:5|five) (?:full )?days (?:per|a|each|/) ?week\b")
OFFICE = re.compile(
    r"\b(?:office|on-?site|on site|in-?person|in person|hq|hub|home|remote|remotely|wfh|büro|vor ort)\b"
)
# Both are offered, as one likes.
OR_HYBRID = re.compile(r"(?: ?/ ?|,? or |,? oder | & )(?:in an? )?hybrid")
OR_REMOTE = re.compile(r"(?: ?/ ?|,? or |,? oder )(?:be )?(?:fully |100% |completely )?remote")
HYBRID_BEHIND = re.compile(
    r"(?:[ -](?:work|role|position|schedule|setup|set-up|arrangement|policy|opportunity|office|remote|job|working|basis|"
    r"environment(?! (?:of|with|and) )|modell?\b|"
    r"workplace|employment|workers?\b|within|in [a-z]+|at our|from our|home)|ly (?:in|from|at|out)|(?: ?[-:(,.;/)|\n]| \d)|$)"
)
HYBRID_BEFORE = re.compile(
    r"(?:\b(?:is|are|be|work|location|locations|arrangement|type|model|offers?|offered as|offering|hybrid|a|an|our|or|operate|position|"
    r"role|policy|currently|flexible|structured|as)\b ?[:-]? ?|"
    r"(?:^|[\n(|•:,/-]) ?)$"
)
HYBRID_THING = re.compile(
    r"[ -](?:cloud|vehicle|mobile|app\b|apps\b|electric|multi|infrastructure|it\b|data|approach|engine|architecture|identity|connect|"
    r"network|deployment|solution|kernel|"
    r"retrieval|threat|search|environments|system|car\b|cars\b|power|bond|securit|event|sales|publish|storage|integration|integer|rocket|"
    r"propuls|learning|ai\b|and multi|(?:and|or|,|/) ?(?:multi|public|private|electric|on-?prem|cloud))|, (?:or |and )?(?:multi-?)?cloud"
)
ONSITE_BEFORE = re.compile(
    r"(?:\b(?:position|role|job|this is|it is|is|fully|100 ?%|must be|be|location|workplace type|work type|work arrangement|"
    r"work location|five days(?: a week)?|"
    r"5 days(?: a week| per week)?|full[- ]time)(?: (?:a|an|based|required|to be|located|work|working|performed|primarily|fully|is|"
    r":))* ?[:-]? ?|(?:^|[\n(|]) ?)$"
)
ONSITE_BEHIND = re.compile(
    r"(?: only\b| position\b| role\b| job\b| work(?:place|ing)?\b(?! with)| presence| 5 days| five days| full[- ]time| in [a-z]| at our|"
    r" at the| required| opportunity|"
    r" ?[-:(,.;)|\n]|$)"
)
ONSITE_THING = re.compile(
    r"[ -](?:gym|park|interview|meet|visit|customer|client|support|child|train|cafe|clinic|fitness|lunch|event|food|meal|health|"
    r"with (?:client|customer)|"
    r"at (?:client|customer)|and remote|or remote|collab|perks|amenities|day\b|days\b|services|security|assess)"
)
HOME_BEHIND = re.compile(
    r"(?:home|anywhere)(?: (?:position|role|job|opportunity|company|in the|within|permanently|full[- ]time)|[.)\n,]|$)"
)
HOME_BEFORE = re.compile(r"(?:100 ?% |fully |permanent(?:ly)? |role is |position is |(?:^|[\n(|:]) ?)$")
FOR_A_WHILE = re.compile(r"[^.\n]{0,25}\b(?:weeks?|days?|months?|occasional|sometimes|up to)\b")

"""Answers of the queries app: in camelCase, but for what a client, a rule or a person named."""

from functools import partial

from thresher.web import camel

AS_WRITTEN = frozenset(("parameters", "category_max_scores"))

camel_answer = partial(camel.camel_answer, as_written=AS_WRITTEN)

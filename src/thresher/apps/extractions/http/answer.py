"""Answers of the extractions app: in camelCase, but for what a person or a page named."""

from functools import partial

from thresher.web import camel

AS_WRITTEN = frozenset(("schema", "parameters", "definition", "data", "values", "evidence"))

camel_answer = partial(camel.camel_answer, as_written=AS_WRITTEN)

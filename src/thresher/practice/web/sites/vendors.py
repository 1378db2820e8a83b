"""A model server as people run one on their own machine: asked by its bare address, it speaks every vendor's
protocol, by path.

So a project's `base_url` may be the address of the practice web itself, and no name has to lead anywhere.
"""

from thresher.practice.web.answer import Answer, Ask
from thresher.practice.web.sites import anthropic, gemini, home, model


def site(ask: Ask) -> Answer:
    """`/v1/messages`, `/v1/models/MODEL:…`, other `/v1/…`; everything else is the site that any name has."""
    match ask.parts:
        case ("v1", "messages", *_):
            return anthropic.site(ask)
        case ("v1beta", *_) | ("v1", "models", _):
            return gemini.site(ask)
        case ("v1", *_):
            return model.site(ask)
        case _:
            return home.site(ask)

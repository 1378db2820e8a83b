"""Credentials of a request: the secrets it needs, and the one origin that may see them.

They travel beside the request, never inside it. The fetcher adds them at the moment of sending, to a request
for that origin only. So no URL that is stored, logged or shown holds a secret, and no redirect can take one
along.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_plus

import ada_url

from thresher.core.redaction import HIDDEN, MIN_HIDDEN


@dataclass(frozen=True, slots=True)
class Credentials:
    """`origin` is scheme, host and port, as in `https://api.acme.example`; `headers` and `query` are sent
    there and nowhere else.
    """

    origin: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query: Mapping[str, str] = field(default_factory=dict, repr=False)

    def belong_to(self, url: str) -> bool:
        """Tell whether a request to this URL may carry them."""
        return origin_of(url) == origin_of(self.origin)

    def added_to(self, url: str) -> str:
        """Return the URL with the secret parameters, to send only."""
        bare, hash_sign, fragment = self.left_out_of(url).partition("#")
        written = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='-._~')}" for name, value in self.query.items()
        )
        joint = "" if not written or bare.endswith(("?", "&")) else "&" if "?" in bare else "?"
        return f"{bare}{joint}{written}{hash_sign}{fragment}"

    def left_out_of(self, url: str) -> str:
        """Return the URL without the secret parameters: sites repeat them in redirects and
        next-page links.
        """
        bare, hash_sign, fragment = url.partition("#")
        path, mark, query = bare.partition("?")
        if not mark or not self.query:
            return url
        kept = "&".join(
            each for each in query.split("&") if unquote_plus(each.partition("=")[0]) not in self.query
        )
        return f"{path}?{kept}{hash_sign}{fragment}" if kept else f"{path}{hash_sign}{fragment}"

    def hidden_in(self, text: str) -> str:
        """Return the text with every secret masked, however it is encoded."""
        for value in (*self.headers.values(), *self.query.values()):
            secret = value.rpartition(" ")[2]  # without the word Bearer
            if len(secret) >= MIN_HIDDEN:
                for spelled in {secret, quote(secret, safe=""), quote(secret, safe="-._~"), quote(secret)}:
                    text = text.replace(spelled, HIDDEN)
        return text


def origin_of(url: str) -> str:
    """Return scheme, host and port as a browser compares them; empty if it is not a URL."""
    try:
        return str(ada_url.URL(url).origin)
    except ValueError:
        return ""

"""A large body, written to a temporary file while it arrives: memory holds one piece of it, and the digest is ready with the last."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile

from fastapi import HTTPException
from starlette.requests import ClientDisconnect, Request

from thresher.config.settings import Settings
from thresher.control.spooled import Spooled
from thresher.core.errors import DatabaseProblem
from thresher.web.body import declared

IN_MEMORY = 1_048_576  # bytes; what is larger goes to the disk


@asynccontextmanager
async def spooled(request: Request, settings: Settings) -> AsyncIterator[Spooled]:
    """The body of a request, for the length of a block. At most `roles.body_limit` bytes; reading stops there."""
    limit = settings.count("roles.body_limit")
    if declared(request.scope) > limit:
        raise _too_large(limit)
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        digest, size = hashlib.sha256(), 0
        try:
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise _too_large(limit)
                digest.update(piece)
                file.write(piece)
        except ClientDisconnect:
            raise HTTPException(400, "the other side hung up before the body was whole") from None
        except OSError as problem:
            raise DatabaseProblem(f"there is no room for the body: {problem.strerror}; nothing was changed, try again later") from problem
        yield Spooled(digest.hexdigest(), size, file)  # type: ignore[arg-type]  # it is one; its stub says otherwise


def _too_large(limit: int) -> HTTPException:
    says = f'a body has at most {limit:,} bytes (roles.body_limit); send the postings in parts, with "complete": false but for the last'
    return HTTPException(413, says, {"Connection": "close"})

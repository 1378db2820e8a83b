"""The stored profile, as it is now."""

from functools import lru_cache

import orjson

from thresher.apps.jobs.person.profile import Profile, profile_of
from thresher.core.context import Context
from thresher.core.errors import ConfigError

PROFILE, ME = "profile", "me"


async def my_profile(ctx: Context) -> Profile | None:
    """Return the profile, or None if there is none yet."""
    found = await ctx.record(PROFILE, ME)
    return _read(orjson.dumps(found.data, option=orjson.OPT_SORT_KEYS)) if found else None


async def readable_profile(ctx: Context) -> Profile | None:
    """Return the profile, or None if it cannot be read; the command that sets it reports the error."""
    try:
        return await my_profile(ctx)
    except ConfigError:
        return None


@lru_cache(8)  # it is read for every posting, and checked strictly
def _read(data: bytes) -> Profile:
    return profile_of(orjson.loads(data))

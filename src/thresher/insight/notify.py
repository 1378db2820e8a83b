"""Whom a project tells, as the doctor sees it: whether a message could go out, without sending one."""

from thresher.config.notify import Notify
from thresher.core.errors import ConfigError
from thresher.insight.doctor import Check, Verdict
from thresher.notify.notifier import Notifier


def check_notify(wanted: Notify) -> list[Check]:
    """Nothing to say where nobody is to be told."""
    if not wanted:
        return []
    try:
        names = Notifier(wanted.urls, wanted.unset).check()
    except ConfigError as problem:
        return [Check("notify", Verdict.FAIL, str(problem), "until then new matches wait to be told of")]
    return [Check("notify", Verdict.OK, f"{', '.join(names)}; to try them: thresher notify")]

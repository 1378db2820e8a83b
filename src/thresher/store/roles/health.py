"""What looks say about their platforms: failures in a row pause one, a find opens it again."""

from collections.abc import Mapping

from thresher.governance.turns import Health, Pace, Verdict, after_platform
from thresher.store.session import Session

_TELLING = (Verdict.FOUND, Verdict.BLOCKED, Verdict.FAILED)
_READ = "select failures, paused_until, paused_tag, paused_reason from platforms where name = :name"
# Good news about a platform that is well changes nothing, and need not wait for anybody.
_HOLD = "update platforms set failures = failures where name = :name and (:bad = 1 or failures > 0 or paused_until > 0)"
_WRITE = """update platforms set failures = :failures, paused_until = :until, paused_tag = :tag, paused_reason = :reason
    where name = :name"""


def judge_platforms(session: Session, verdicts: Mapping[str, Verdict], now: int, pace: Pace) -> None:
    """Tell each platform how the look at it ended. By name, so that two sessions never wait for each other in
    a circle.
    """
    for name, verdict in sorted(verdicts.items()):
        if verdict in _TELLING and session.run(
            _HOLD, {"name": name, "bad": int(verdict is not Verdict.FOUND)}
        ):
            _tell(session, name, verdict, now, pace)


def _tell(session: Session, name: str, verdict: Verdict, now: int, pace: Pace) -> None:
    before = Health(*session.rows(_READ, {"name": name})[0])
    after = after_platform(before, verdict, now, pace)
    if after != before:
        session.run(
            _WRITE,
            {
                "name": name,
                "failures": after.failures,
                "until": after.paused_until,
                "tag": after.tag,
                "reason": after.reason,
            },
        )

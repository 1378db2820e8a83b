"""The numbers of the jobs app: thresholds, points and times. Settings like all others; only the list stands apart, because it is long."""

from thresher.config.setting import Setting

JOBS: tuple[Setting, ...] = (
)  # fmt: skip

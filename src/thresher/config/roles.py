"""The numbers of the roles app: order, pace, limits, thresholds and weights. Settings like all others; only the list stands apart."""

from thresher.config.setting import Setting

ROLES: tuple[Setting, ...] = (
    Setting("roles.approval", 0, "0 or 1", 0, 1, "1 lets a new role wait for a person's approval before scrapers are given it."),
    Setting("roles.match.store", 50.0, "points", 0, 100, "The score from which on a match is kept."),
    Setting("roles.match.recommend", 70.0, "points", 0, 100, "The score from which on a match is recommended."),
    Setting("roles.match.skills", 40.0, "weight", 0, 1_000, "How much the skills count in a score."),
    Setting("roles.match.experience", 25.0, "weight", 0, 1_000, "How much the years of experience count in a score."),
    Setting("roles.match.location", 15.0, "weight", 0, 1_000, "How much the place of work counts in a score."),
    Setting("roles.match.salary", 10.0, "weight", 0, 1_000, "How much the salary counts in a score."),
    Setting("roles.match.semantic", 10.0, "weight", 0, 1_000, "How much the nearness of the texts counts in a score."),
    Setting("roles.match.best", 100, "matches", 1, 100_000, "How many matches of a candidate one matching keeps at most, the best first."),
    Setting("roles.near", 0.85, "cosine", 0, 1, "From which nearness on a title is taken to be a known role."),
    Setting("roles.posting_days", 30.0, "days", 1, 3_650, "How long a posting counts as open after a scraper saw it last."),
    Setting("roles.reset_after", 24.0, "hours", 0, 8_760, "How long a completed role rests until a daily reset brings it back."),
    Setting("roles.session", 3_600.0, "seconds", 1, 86_400, "How long a scraper holds a role without a sign of life."),
)  # fmt: skip

"""The settings of the extractions app."""

from thresher.core.setting import Setting, guarded, tunable

SETTINGS: tuple[Setting, ...] = (
    guarded(
        "extractions.max_pages",
        100_000,
        "pages",
        1,
        100_000_000,
        "Maximum number of pages of an extraction whose recipe sets no limit.",
    ),
    tunable(
        "extractions.max_depth",
        3,
        "steps",
        0,
        8,
        "Maximum number of steps that exploration goes on from a page of the recipe.",
    ),
    tunable(
        "extractions.samples",
        4,
        "pages",
        2,
        20,
        "Pages of each level that detection looks at as samples.",
    ),
    tunable(
        "extractions.detection_pages",
        80,
        "pages",
        5,
        1_000,
        "Maximum number of pages that one detection fetches.",
    ),
    tunable(
        "extractions.votes",
        3,
        "questions",
        0,
        15,
        "Questions to a model about a page that rules are not certain of; most answers must agree. 0 asks none.",
    ),
    tunable(
        "extractions.stale",
        4.0,
        "hours",
        0.01,
        720,
        "Time without movement after which an extraction is STALE.",
    ),
)

"""What a person may see: plain values about tasks, gates, workers and the database. Nothing here changes
anything.

Names that end in `at` are times in microseconds since 1970; names without a unit are seconds.
"""

"""What a person may change: tasks, failures, sources, schedules, settings. Every change goes through one of
these functions.
"""

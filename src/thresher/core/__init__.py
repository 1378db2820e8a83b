"""The pure core: tasks, outcomes, settlements, gates, errors. Nothing here performs I/O, except `clock`."""

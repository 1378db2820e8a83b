-- What a task has written is found by an index: the page of a task shows its records.
create index records_task on records (last_task);

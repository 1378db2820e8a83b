-- Quarantined tasks whose app has not yet said what to write down of it (Pipeline.failed): whoever gives up a lost worker's tasks need
-- not know their kinds. Written with the quarantine, removed with the words.
create table last_words (
    task_id bigint primary key,
    claim   integer not null
);

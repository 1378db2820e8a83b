-- Whether a lineage has been reported as deep, and how many have lately.
create index events_deep on events (task_id, at) where kind = 'lineage_deep';

-- Whether a page belongs to a list that is counted on page by page, because nobody says how long it is: whoever fetches it again
-- must know that the list may go on behind it.
alter table extraction_pages add column counting integer not null default 0;

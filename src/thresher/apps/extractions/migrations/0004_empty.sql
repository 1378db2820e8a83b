-- The words with which a list says that it has nothing. A list without links that does not say so proves nothing.
alter table extraction_pages add column empty text;

"""The hiring app: postings, and which of them are the same opening. The other hiring apps need it."""

"""The backend for many machines: the same promises on PostgreSQL 15 and later."""

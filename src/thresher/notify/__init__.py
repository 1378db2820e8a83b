"""Notifications: messages by mail, push or chat to the person whose project this is."""

"""Calling language models: questions, replies, repair, evidence and prices. It never touches the database."""

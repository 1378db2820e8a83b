"""Companies as signals: how offers are scored, which are listed again, and what they say of a company."""

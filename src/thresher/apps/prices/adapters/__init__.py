"""How listings are had: one adapter for each kind of source."""

"""Evidence: finding where in a text a value stands, however it is written there. Pure."""

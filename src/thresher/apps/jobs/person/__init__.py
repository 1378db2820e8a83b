"""The profile: what the person who uses the app wants."""

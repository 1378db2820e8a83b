"""Lists: repeated cards and how a list goes on."""

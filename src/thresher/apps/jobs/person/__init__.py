"""The person whom the app works for, and what they want."""

"""The apps, each in a room of its own. None knows another; they meet in tasks and records."""

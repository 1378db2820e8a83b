"""What tests stand on: databases, and factories that name only what a test is about."""

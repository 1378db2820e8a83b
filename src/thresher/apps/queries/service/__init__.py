"""What people and programs ask of the queries app; called by commands, routes and pages alike."""

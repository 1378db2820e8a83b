"""What people and programs ask of the extractions app; called by commands, routes and pages alike."""

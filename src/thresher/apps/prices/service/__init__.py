"""What people and programs ask of the prices app; called by its commands, routes and pages."""

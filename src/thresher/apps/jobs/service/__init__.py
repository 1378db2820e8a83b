"""What people and programs ask of the jobs app; called by its commands and routes."""

"""What people and programs ask of the roles app; called by its commands and routes."""

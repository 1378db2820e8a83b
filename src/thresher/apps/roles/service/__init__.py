"""What people and programs ask of the roles app."""

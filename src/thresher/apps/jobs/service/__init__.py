"""What people and programs ask of the jobs app."""

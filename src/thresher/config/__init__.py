"""Settings, the project file, and the apps that a project enables."""

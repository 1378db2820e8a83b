"""The jobs app: from the name of a company to the openings that fit a person, with a reason at every step."""

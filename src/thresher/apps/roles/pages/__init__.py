"""The pages of the roles app: candidates, roles, their matches, and the scrapers that search for them."""

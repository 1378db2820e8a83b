"""The company pipeline: from a company's pages to its record."""

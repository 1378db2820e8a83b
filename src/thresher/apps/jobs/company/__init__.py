"""From a company's pages to what is known of it."""

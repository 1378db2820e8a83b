"""How a recipe's configuration is found: rules over pages, and the plan of which page to look at next."""

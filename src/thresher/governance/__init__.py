"""May we, when, and why not: the arithmetic of gates. Pure."""

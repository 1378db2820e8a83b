"""Where queries search: one small protocol, and a file for each client."""

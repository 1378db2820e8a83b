"""From a company to its board, with proof that it is theirs."""

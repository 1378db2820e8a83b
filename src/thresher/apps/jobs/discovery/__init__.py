"""Discovery: from a company to its board, with proof that the board is the company's."""

"""Companies, boards and postings: facts, ownership and lifecycle. Pure, shared by the hiring apps."""

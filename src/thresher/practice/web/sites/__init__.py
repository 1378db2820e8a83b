"""The sites of the practice web: each a pure function from what is asked to what is answered."""

"""The telling hand: a message to the person whose project this is, by mail, push or chat."""

"""What the hiring apps share beyond pure code: postings as people see them."""

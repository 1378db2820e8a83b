"""The pages of the reference that are printed from the code: one module a page, each with a `page()`."""

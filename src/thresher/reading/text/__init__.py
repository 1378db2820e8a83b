"""Text: what a page says, as plain text, main content or Markdown, and the words people use on pages."""

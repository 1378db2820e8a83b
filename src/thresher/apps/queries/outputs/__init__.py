"""The table of companies where people work on it: Google Sheets and files, both ways."""

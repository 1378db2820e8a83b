"""Every number that steers Thresher, where a project says what it wants, and where its database is."""

"""The documentation as a site: `make docs` renders every Markdown page of the repository into `site/`."""

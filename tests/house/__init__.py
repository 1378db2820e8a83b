"""What a reviewer would check by eye, as tests: the reference equals the code, links resolve, examples run,
rules hold."""

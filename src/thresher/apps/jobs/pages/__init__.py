"""The pages of the jobs app: matches, boards, companies, and why there are not more matches."""

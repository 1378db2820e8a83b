"""Companies, boards and postings: what can be said of them, who they belong to, and how their lives go. Pure,
shared by the apps.
"""

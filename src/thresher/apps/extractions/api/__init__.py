"""APIs in place of pages: their definitions, the vendors that come with the app, and the items in their
answers.
"""

"""Match candidates with postings: pure rules, one pair at a time with reasons, or a million at a time with
NumPy.
"""

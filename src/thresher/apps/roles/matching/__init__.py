"""How well a candidate and a posting go together: pure rules, one pair at a time with reasons, or a million
at a time with NumPy.
"""

"""APIs that a definition describes: what to request, how the list goes on, and where in the answer
everything stands. What the rows mean is up to whoever asks.
"""

"""The thinking hand: models behind one seam. It asks, checks what comes back, and never touches the
database.
"""

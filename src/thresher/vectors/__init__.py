"""Vectors: texts as points, near each other where they mean the same; on this machine, without a network."""

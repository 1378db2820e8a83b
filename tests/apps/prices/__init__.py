"""Tests of the extractions app."""

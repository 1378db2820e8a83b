"""Tests of the adapters of price sources."""

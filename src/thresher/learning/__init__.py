"""Learned extractors: from a few pages whose answers are known to rules that read the rest of the site.
Pure.
"""

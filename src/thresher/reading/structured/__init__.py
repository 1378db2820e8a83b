"""Data that pages and feeds carry for machines: JSON-LD, microdata, embedded JSON, XML, feeds."""

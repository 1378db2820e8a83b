"""The kinds of records that the apps share, by name. Apart from how they are written down, because
the store knows them too, and needs none of the readers that make their keys.
"""

COMPANY, BOARD, POSTING, GROUP = "company", "board", "posting", "group"

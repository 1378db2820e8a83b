"""What a company's own pages say about it: which of them to read, what they say and where, and what it is
worth to one person.

    pages         which pages of a site speak of the company
    dossier       those pages as one text, in which every value has its place
    facts         about, culture, mission, size, headquarters, industry, founded
    focus         whether it is remote-first, and whether it builds with machine learning
    office        whether it has an office in a given city
    openings      where its openings are, and how sure that is
    completeness  how much is known
    priority      points and tier for one person

All of it is pure: pages come in as documents, numbers and the present year as arguments.
"""

"""What a company's own pages say about it: which to read, the facts with their evidence, and its value to a
person.

    pages         which pages of a site describe the company
    dossier       those pages as one text, in which every value has its position
    facts         about, culture, mission, size, headquarters, industry, founded
    focus         whether it is remote-first, and whether it builds with machine learning
    office        whether it has an office in a given city
    openings      where its openings are, and how certain that is
    completeness  how much is known
    priority      points and tier for one person

All of it is pure: pages come in as documents, numbers and the present year as arguments.
"""

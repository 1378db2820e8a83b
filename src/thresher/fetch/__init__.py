"""The outward hand: asks the web, politely and safely. Ignorant of the store; what it needs from there are
seams.
"""

"""Real processes under real adversity, and a checker that reads what they left behind."""

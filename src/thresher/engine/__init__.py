"""The engine: claims tasks, performs their stages, settles the results. It knows no app."""

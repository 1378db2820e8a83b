"""The machine: claims tasks, performs their stages, settles what came of it. It knows no app."""

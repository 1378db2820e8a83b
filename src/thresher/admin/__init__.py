"""What a person sees and changes of the machine, queries beside commands."""

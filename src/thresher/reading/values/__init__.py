"""Values: money, numbers, dates and addresses as people write them."""

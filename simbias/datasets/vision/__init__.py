"""Images, and what is made of them."""

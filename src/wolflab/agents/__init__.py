"""One seat's view and one question in, a reply out."""

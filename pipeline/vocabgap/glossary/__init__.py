"""The glossary: what the words of a report mean, checked before anyone acts on them."""

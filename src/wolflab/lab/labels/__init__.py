"""Labels of replies by people, rules and a judge, and their agreement."""

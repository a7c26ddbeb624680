"""Reading English Werewolf talk: claims, reports, accusations, defences and suggestions."""

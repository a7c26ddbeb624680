"""The language that players and models share: typed questions, sentences, rules text, prompts, replies."""

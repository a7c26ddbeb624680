"""The pages: a run, a tournament or a training as one self-contained HTML file, its figures and tables."""

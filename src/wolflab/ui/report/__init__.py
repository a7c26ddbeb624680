"""Reports: a run, a tournament or a training as one self-contained HTML file, with figures and tables."""

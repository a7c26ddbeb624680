"""The commands of the command line, one module each; `common` has what several of them share."""

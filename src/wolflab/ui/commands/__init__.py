"""The commands of the command line; `options` has their shared options, `common` what several of them do."""

"""Questions on the rules, as people meet them: commands, tables, pages."""

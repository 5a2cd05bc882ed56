"""What commands print about models and their training: tables, help in groups, warnings."""

"""What the audit found, as findings (FIS406 to FIS419)."""

"""The workbooks as Mistral knows them: found, linted, and brought up to date."""

"""Work away from the browser: a round as a spreadsheet, and the sheet back as answers."""

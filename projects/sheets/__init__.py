"""Export of a round's assignments as a spreadsheet, and import of the filled-in sheet as answers."""

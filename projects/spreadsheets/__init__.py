"""Reading of uploaded CSV, TSV and XLSX files, and neutralised cells for spreadsheet programs."""

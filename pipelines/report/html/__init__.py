"""The report as one HTML page: `page.py` makes it of a report's JSON values, the other modules of its parts."""

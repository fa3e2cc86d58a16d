"""From findings and numbers to report.json and the documents that show it."""

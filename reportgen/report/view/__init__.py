"""Views: a report as the plain texts and tables that the templates print."""

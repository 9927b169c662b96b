"""The HTML report: one folder that opens in a browser without a network."""

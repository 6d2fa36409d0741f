"""Two ways to ask a query, one table as the answer."""

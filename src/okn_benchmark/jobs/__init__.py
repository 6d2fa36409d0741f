"""One module per piece of work the command line offers."""

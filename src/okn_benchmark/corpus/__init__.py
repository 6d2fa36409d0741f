"""The questions: `.rq` records, where they come from and which of them take part."""

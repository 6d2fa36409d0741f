"""The agent program: started, attested, timed and stopped."""

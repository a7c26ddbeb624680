"""What `village` believes: who may hold which role, from what was seen, said and thought before."""

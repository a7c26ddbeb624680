"""Fine-tuning on questions on the rules (002 §9.2): plans, trainings, adapters' cards, gains."""

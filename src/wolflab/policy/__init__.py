"""Training of the policy that picks among candidates (004 §4.3). Needs torch; inference does not."""

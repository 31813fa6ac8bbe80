"""What the project stands behind, what a seal covers of it, and what was said under an earlier guideline."""

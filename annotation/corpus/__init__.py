"""What the corpus is: how it is built, told apart, found and witnessed, wherever it comes from."""

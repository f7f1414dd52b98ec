"""What other files of the project say."""

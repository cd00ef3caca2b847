"""What the commands of every room share: arguments, printing, progress."""

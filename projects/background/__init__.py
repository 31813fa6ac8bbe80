"""Work that goes on after the reply: jobs, whose turn it is, what they write and how much memory they may take."""

"""Models as judges: they read the page that raters read, and their ratings are kept apart from those of people."""

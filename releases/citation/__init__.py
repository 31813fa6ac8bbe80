"""Citation: creators, funding and description of a data set, and the files of a release that state them."""

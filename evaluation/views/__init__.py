"""Human evaluation over HTTP."""

"""Formats of published judgements (`annotation.imports`): what raters said of summaries elsewhere."""

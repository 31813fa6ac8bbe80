"""How many rows there are, as a value beside each row that asks."""

from typing import Any

from django.db.models import Func, IntegerField, QuerySet, Subquery


def counted(rows: QuerySet[Any]) -> Subquery:
    """So many of them as a part of the query whose `OuterRef`s they name.

    Of all outer rows at once, as an aggregate, it would be a join of all. A count of all rows that an index names,
    without a group, is the one thing that data bases count fast; and as a question ("more than none?") it is asked row
    by row whatever PostgreSQL believes of its tables, while EXISTS may become a join and a LIMIT the wrong index.
    """
    whole = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
    return Subquery(rows.order_by().annotate(n=whole).values("n"))

"""Keeping what a search looks in the same as what it is taken from."""

from sql.search import folded

from ..models import Cluster


def refresh_search(cluster: Cluster) -> None:
    """What a search finds the cluster by: its key, its tuple, its texts and the ids of their studies."""
    claims = cluster.propositions.current().select_related("study").order_by("position")
    texts = [t for claim in claims for t in ((claim.study.pmid,) if claim.study else ()) + (claim.text,)]
    slots = cluster.pico.order_by("id").values_list("text", flat=True)
    Cluster.objects.filter(pk=cluster.pk).update(search=folded(cluster.key, *slots, *texts))

"""Routes of the annotation app, under /api/v1/."""

from django.urls import path

from .views import consistency, corpus, curation, documents, evidence, imports, reliability, searches

urlpatterns = [
    path("import-formats/", imports.FormatListView.as_view()),
    path("projects/<slug:slug>/imports/", imports.ImportListView.as_view()),
    path("projects/<slug:slug>/imports/confirm/", imports.ImportConfirmView.as_view()),
    path("imports/<int:import_id>/", imports.ImportView.as_view()),
    path("imports/<int:import_id>/notices/", imports.ImportNoticesView.as_view()),
    path("projects/<slug:slug>/searches/", searches.SearchListView.as_view()),
    path("projects/<slug:slug>/searches/studies/", searches.StudySearchView.as_view()),
    path("projects/<slug:slug>/searches/table/", searches.SearchTableView.as_view()),
    path("projects/<slug:slug>/searches/flow/", searches.FlowView.as_view()),
    path("searches/<int:search_id>/", searches.SearchView.as_view()),
    path("me/pubmed/", searches.PubMedAccessView.as_view()),
    path("projects/<slug:slug>/clusters/", corpus.ClusterListView.as_view()),
    path("projects/<slug:slug>/clusters/states/", corpus.ClusterStatesView.as_view()),
    path("clusters/<int:cluster_id>/", corpus.ClusterView.as_view()),
    path("clusters/<int:cluster_id>/neighbours/", corpus.NeighboursView.as_view()),
    path("units/<int:unit_id>/place/", corpus.UnitPlaceView.as_view()),
    path("units/<int:unit_id>/text/", corpus.TextView.as_view()),
    path("projects/<slug:slug>/reviews/", corpus.ReviewListView.as_view()),
    path("reviews/<int:review_id>/", corpus.ReviewView.as_view()),
    path("reviews/<int:review_id>/curation/", curation.CurationView.as_view()),
    path("reviews/<int:review_id>/corrections/", curation.ReviewCorrectionsView.as_view()),
    path("reviews/<int:review_id>/clusters/", curation.ReviewClustersView.as_view()),
    path("reviews/<int:review_id>/sentences/", curation.ReviewSentencesView.as_view()),
    path("clusters/<int:cluster_id>/propositions/", curation.ClusterPropositionsView.as_view()),
    path("clusters/<int:cluster_id>/removal/", curation.RemovalView.as_view()),
    path("units/<int:unit_id>/removal/", curation.InputRemovalView.as_view()),
    path("projects/<slug:slug>/consistency/", consistency.ConsistencyView.as_view()),
    path("projects/<slug:slug>/findings/", consistency.FindingListView.as_view()),
    path("findings/<int:finding_id>/", consistency.FindingView.as_view()),
    path("projects/<slug:slug>/evidence/", evidence.EvidenceView.as_view()),
    path("projects/<slug:slug>/documents/", documents.DocumentsView.as_view()),
    path("projects/<slug:slug>/reliability/", reliability.ReliabilityView.as_view()),
    path("projects/<slug:slug>/studies/", corpus.StudyListView.as_view()),
    path("studies/<int:study_id>/", corpus.StudyView.as_view()),
    path("projects/<slug:slug>/summary/", corpus.SummaryView.as_view()),
    path("projects/<slug:slug>/statistics/", corpus.StatisticsView.as_view()),
]

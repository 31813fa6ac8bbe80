"""Routes of the annotation app, under /api/v1/."""

from django.urls import path

from .consistency import views as consistency_views
from .corpus import views as corpus_views
from .curation import views as curation_views
from .documents import views as documents_views
from .evidence import views as evidence_views
from .flow.views import FlowView
from .full_texts.views import FullTextsView
from .imports import views as imports_views
from .mappings import views as mappings_views
from .pubmed import views as pubmed_views
from .questions import views as questions_views
from .reliability import views as reliability_views
from .reviews import views as reviews_views
from .splits import views as splits_views

urlpatterns = [
    path("import-formats/", imports_views.FormatListView.as_view()),
    path("projects/<slug:slug>/imports/", imports_views.ImportListView.as_view()),
    path("projects/<slug:slug>/imports/confirm/", imports_views.ImportConfirmView.as_view()),
    path("projects/<slug:slug>/imports/folder/", imports_views.ImportFolderView.as_view()),
    path("projects/<slug:slug>/imports/columns/", mappings_views.TryMappingView.as_view()),
    path("projects/<slug:slug>/imports/columns/check/", mappings_views.MappedCheckView.as_view()),
    path("projects/<slug:slug>/mappings/", mappings_views.MappingListView.as_view()),
    path("projects/<slug:slug>/mappings/<int:mapping_id>/", mappings_views.MappingView.as_view()),
    path("imports/<int:import_id>/", imports_views.ImportView.as_view()),
    path("imports/<int:import_id>/notices/", imports_views.ImportNoticesView.as_view()),
    path("imports/<int:import_id>/withdraw/", imports_views.ImportWithdrawView.as_view()),
    path("imports/<int:import_id>/continue/", imports_views.ImportContinueView.as_view()),
    path("projects/<slug:slug>/searches/", pubmed_views.SearchListView.as_view()),
    path("projects/<slug:slug>/searches/studies/", pubmed_views.StudySearchView.as_view()),
    path("projects/<slug:slug>/searches/full-texts/", FullTextsView.as_view()),
    path("projects/<slug:slug>/searches/table/", pubmed_views.SearchTableView.as_view()),
    path("projects/<slug:slug>/searches/flow/", FlowView.as_view()),
    path("searches/<int:search_id>/", pubmed_views.SearchView.as_view()),
    path("me/pubmed/", pubmed_views.PubMedAccessView.as_view()),
    path("projects/<slug:slug>/clusters/", corpus_views.ClusterListView.as_view()),
    path("projects/<slug:slug>/clusters/states/", corpus_views.ClusterStatesView.as_view()),
    path("clusters/<int:cluster_id>/", corpus_views.ClusterView.as_view()),
    path("clusters/<int:cluster_id>/neighbours/", corpus_views.NeighboursView.as_view()),
    path("units/<int:unit_id>/place/", corpus_views.UnitPlaceView.as_view()),
    path("units/<int:unit_id>/text/", corpus_views.TextView.as_view()),
    path("projects/<slug:slug>/reviews/", corpus_views.NewReviewView.as_view()),
    path("reviews/<int:review_id>/", corpus_views.ReviewView.as_view()),
    path("reviews/<int:review_id>/readings/", reviews_views.ReviewReadingsView.as_view()),
    path("studies/<int:study_id>/readings/", reviews_views.StudyReadingsView.as_view()),
    path("effect-pairs/<int:pair_id>/readings/", reviews_views.PairReadingsView.as_view()),
    path("reviews/<int:review_id>/curation/", curation_views.CurationView.as_view()),
    path("reviews/<int:review_id>/corrections/", curation_views.ReviewCorrectionsView.as_view()),
    path("reviews/<int:review_id>/clusters/", curation_views.ReviewClustersView.as_view()),
    path("reviews/<int:review_id>/sentences/", curation_views.ReviewSentencesView.as_view()),
    path("clusters/<int:cluster_id>/propositions/", curation_views.ClusterPropositionsView.as_view()),
    path("clusters/<int:cluster_id>/removal/", curation_views.RemovalView.as_view()),
    path("units/<int:unit_id>/removal/", curation_views.InputRemovalView.as_view()),
    path("projects/<slug:slug>/consistency/", consistency_views.ConsistencyView.as_view()),
    path("projects/<slug:slug>/findings/", consistency_views.FindingListView.as_view()),
    path("projects/<slug:slug>/findings/dismissals/", consistency_views.DismissalsView.as_view()),
    path("findings/<int:finding_id>/", consistency_views.FindingView.as_view()),
    path("projects/<slug:slug>/evidence/", evidence_views.EvidenceView.as_view()),
    path("projects/<slug:slug>/documents/", documents_views.DocumentsView.as_view()),
    path("projects/<slug:slug>/reliability/", reliability_views.ReliabilityView.as_view()),
    path("projects/<slug:slug>/splits/", splits_views.SplitListView.as_view()),
    path("projects/<slug:slug>/splits/files/", splits_views.SplitFileView.as_view()),
    path("splits/<int:split_id>/", splits_views.SplitView.as_view()),
    path("splits/<int:split_id>/table/", splits_views.SplitTableView.as_view()),
    path("studies/<int:study_id>/", corpus_views.StudyView.as_view()),
    path("projects/<slug:slug>/writers/", questions_views.WritersView.as_view()),
    path("projects/<slug:slug>/summary/", corpus_views.SummaryView.as_view()),
    path("projects/<slug:slug>/statistics/", corpus_views.StatisticsView.as_view()),
]

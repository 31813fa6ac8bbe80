"""Routes of the generation app, under /api/v1/."""

from django.urls import path

from .imported_runs import views as imported_runs_views
from .project_endpoints import views as endpoints_views
from .readings import views as readings_views
from .results import views as results_views
from .runs import views as runs_views
from .suggesting import views as suggesting_views
from .systems import views as systems_views
from .training import views as training_views

urlpatterns = [
    path("projects/<slug:slug>/backends/", systems_views.BackendListView.as_view()),
    path("projects/<slug:slug>/endpoints/", endpoints_views.EndpointListView.as_view()),
    path("endpoints/<int:endpoint_id>/", endpoints_views.EndpointView.as_view()),
    path("projects/<slug:slug>/systems/", systems_views.SystemListView.as_view()),
    path("systems/<int:system_id>/", systems_views.SystemView.as_view()),
    path("systems/<int:system_id>/versions/", systems_views.VersionListView.as_view()),
    path("versions/<int:version_id>/", systems_views.VersionView.as_view()),
    path("versions/<int:version_id>/runs/", runs_views.RunListView.as_view()),
    path("runs/<int:run_id>/", runs_views.RunView.as_view()),
    path("runs/<int:run_id>/stop/", runs_views.RunStopView.as_view()),
    path("runs/<int:run_id>/resume/", runs_views.RunResumeView.as_view()),
    path("runs/<int:run_id>/retry/", runs_views.RunRetryView.as_view()),
    path("runs/<int:run_id>/items/", runs_views.RunItemListView.as_view()),
    path("runs/<int:run_id>/summaries/", results_views.RunSummaryListView.as_view()),
    path("runs/<int:run_id>/embargoes/", runs_views.EmbargoListView.as_view()),
    path("embargoes/<int:embargo_id>/lift/", runs_views.EmbargoLiftView.as_view()),
    path("projects/<slug:slug>/outputs/files/", imported_runs_views.OutputsFileListView.as_view()),
    path("projects/<slug:slug>/outputs/imports/", imported_runs_views.OutputsImportListView.as_view()),
    path("projects/<slug:slug>/results/", results_views.ResultsView.as_view()),
    path("projects/<slug:slug>/results/<slug:table>/<slug:form>/", results_views.ResultFileView.as_view()),
    path("projects/<slug:slug>/suggestions/models/", suggesting_views.SuggestingView.as_view()),
    path("projects/<slug:slug>/suggestions/outgoing/", suggesting_views.OutgoingView.as_view()),
    path("projects/<slug:slug>/readings/", readings_views.ReadingListView.as_view()),
    path("projects/<slug:slug>/readings/check/", readings_views.FolderCheckView.as_view()),
    path("projects/<slug:slug>/readings/withdraw/", readings_views.WithdrawalView.as_view()),
    path("projects/<slug:slug>/trainings/", training_views.TrainingListView.as_view()),
    path("projects/<slug:slug>/trainings/choices/", training_views.TrainingChoicesView.as_view()),
    path("trainings/<int:training_id>/", training_views.TrainingView.as_view()),
    path("trainings/<int:training_id>/resume/", training_views.TrainingResumeView.as_view()),
    path("trainings/<int:training_id>/checkpoints/", training_views.TrainingCheckpointsView.as_view()),
    path("trainings/<int:training_id>/version/", training_views.TrainedVersionView.as_view()),
    path("runs/<int:run_id>/scores/", results_views.RunScoreListView.as_view()),
    path("projects/<slug:slug>/outputs/", results_views.OutputListView.as_view()),
]

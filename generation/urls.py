"""Routes of the generation app, under /api/v1/."""

from django.urls import path

from .views import made_elsewhere, outputs, results, runs, systems

urlpatterns = [
    path("projects/<slug:slug>/backends/", systems.BackendListView.as_view()),
    path("projects/<slug:slug>/systems/", systems.SystemListView.as_view()),
    path("systems/<int:system_id>/", systems.SystemView.as_view()),
    path("systems/<int:system_id>/versions/", systems.VersionListView.as_view()),
    path("versions/<int:version_id>/", systems.VersionView.as_view()),
    path("versions/<int:version_id>/runs/", runs.RunListView.as_view()),
    path("runs/<int:run_id>/", runs.RunView.as_view()),
    path("runs/<int:run_id>/stop/", runs.RunStopView.as_view()),
    path("runs/<int:run_id>/resume/", runs.RunResumeView.as_view()),
    path("runs/<int:run_id>/retry/", runs.RunRetryView.as_view()),
    path("runs/<int:run_id>/items/", runs.RunItemListView.as_view()),
    path("runs/<int:run_id>/summaries/", outputs.RunSummaryListView.as_view()),
    path("runs/<int:run_id>/seals/", runs.SealListView.as_view()),
    path("seals/<int:seal_id>/lift/", runs.SealLiftView.as_view()),
    path("projects/<slug:slug>/outputs/files/", made_elsewhere.OutputsFileListView.as_view()),
    path("projects/<slug:slug>/results/", results.ResultsView.as_view()),
    path("projects/<slug:slug>/results/plot/", results.ResultPlotView.as_view()),
    path("projects/<slug:slug>/results/<slug:table>/<slug:form>/", results.ResultFileView.as_view()),
    path("runs/<int:run_id>/scores/", results.RunScoreListView.as_view()),
    path("projects/<slug:slug>/outputs/", outputs.OutputListView.as_view()),
]

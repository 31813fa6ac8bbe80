"""API of trainings."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation.models import DataSplit, ReadingTask, SplitLevel
from api.fields import NameField, Strict
from api.parameters import ParameterSerializer
from api.problems import Refused
from projects.jobs.serializers import JobSerializer
from projects.jobs.views import accepted

from .. import permissions, trainers
from ..models import FineTuning, TrainingState, UnitLevel, Version
from ..trainers import presets
from . import actions, queries

Plain = serializers.Serializer[Any]
TRAINERS = [(trainer.key, trainer.name) for trainer in trainers.every()]


class PointSerializer(Plain):
    step = serializers.IntegerField()
    loss = serializers.FloatField(allow_null=True, help_text="Of the training part, since the point before.")
    learning_rate = serializers.FloatField(allow_null=True)
    gradient_norm = serializers.FloatField(allow_null=True)
    development = serializers.DictField(child=serializers.FloatField(), help_text="Metrics of the development part.")


class PhaseSerializer(Plain):
    step = serializers.IntegerField(help_text="The update after which it begins.")
    micro = serializers.IntegerField(help_text="Examples in memory at once.")
    accumulation = serializers.IntegerField(help_text="Times that many are an update.")


class TrainingEventSerializer(Plain):
    at = serializers.DateTimeField()
    step = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class TrainingSettingSerializer(Plain):
    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.JSONField()


class PartDataSerializer(Plain):
    part = serializers.CharField(allow_blank=True)
    examples = serializers.IntegerField()
    left_out = serializers.DictField(child=serializers.IntegerField(), help_text="Number of units by reason.")


class TrainingRowSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    trainer = serializers.ChoiceField(choices=TRAINERS)
    state = serializers.ChoiceField(choices=TrainingState.choices)
    split = serializers.CharField(source="split.name")
    split_project = serializers.CharField(source="split.project.slug")
    folder = serializers.CharField(source="result.folder", default="", help_text="The model; empty before the end.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class TrainingSerializer(TrainingRowSerializer):
    config = serializers.DictField(child=serializers.JSONField(allow_null=True))
    hash = serializers.CharField(allow_blank=True, help_text="SHA-256 of configuration, data and facts.")
    data = serializers.DictField(child=serializers.JSONField())  # type: ignore[assignment]
    facts = serializers.DictField(child=serializers.JSONField())
    error = serializers.CharField(allow_blank=True)
    phases = PhaseSerializer(many=True)
    curve = PointSerializer(many=True)
    log = TrainingEventSerializer(many=True, help_text="The last events, oldest first.")
    checkpoint = serializers.IntegerField(allow_null=True, help_text="Update of the last checkpoint.")
    settings = TrainingSettingSerializer(many=True, source="labelled", help_text="Settings with their labels.")
    result = serializers.DictField(child=serializers.JSONField(allow_null=True))
    job = JobSerializer(allow_null=True, source="newest_job")


class TrainerSerializer(Plain):
    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    tasks = serializers.ListField(child=serializers.ChoiceField(choices=ReadingTask.choices))
    parameters = ParameterSerializer(many=True)


class PublishedSerializer(Plain):
    name = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]


class TrainingPresetSerializer(Plain):
    """How a paper trained a model. ``training`` has every hyperparameter with its source."""

    key = serializers.CharField()
    name = serializers.CharField()
    paper = serializers.CharField()
    note = serializers.CharField()
    trainer = serializers.ChoiceField(choices=TRAINERS)
    base = serializers.CharField(help_text="Hub ID of the model that the paper trained.")
    level = serializers.ChoiceField(choices=UnitLevel.choices, allow_blank=True, help_text="Empty for classifiers.")
    task = serializers.ChoiceField(choices=ReadingTask.choices, allow_blank=True, help_text="Empty for summarisers.")
    training = PublishedSerializer(many=True)


class TrainingLevelSerializer(Plain):
    key = serializers.ChoiceField(choices=UnitLevel.choices)
    name = serializers.CharField()


class TrainableVersionSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)


class TrainingSplitSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    level = serializers.ChoiceField(choices=SplitLevel.choices)
    divides = serializers.ListField(
        child=serializers.ChoiceField(choices=UnitLevel.choices),
        help_text="Levels of versions whose units it divides and that have targets.",
    )
    parts = serializers.ListField(child=serializers.CharField())


class TrainingChoicesSerializer(Plain):
    """What a training can be made of."""

    trainers = TrainerSerializer(many=True)
    presets = TrainingPresetSerializer(many=True)
    levels = TrainingLevelSerializer(many=True)
    versions = TrainableVersionSerializer(many=True)
    folders = serializers.ListField(child=serializers.CharField())
    splits = TrainingSplitSerializer(many=True)


class NewTrainingSerializer(Strict):
    """A preset needs ``model``; a summariser without one ``version``; a classifier ``task`` and ``model``."""

    name = NameField(max_length=80)
    preset = serializers.CharField(max_length=40, required=False, help_text="Key of a preset of the trainer.")
    level = serializers.ChoiceField(
        choices=UnitLevel.choices, required=False, help_text="With a preset: its own level if omitted."
    )
    trainer = serializers.ChoiceField(choices=TRAINERS)
    split = serializers.IntegerField()
    part = serializers.CharField(max_length=40, help_text="Part to train on.")
    development = serializers.CharField(max_length=40, required=False, default="", allow_blank=True)
    version = serializers.IntegerField(required=False, help_text="A version of the project; its model is trained.")
    task = serializers.ChoiceField(choices=ReadingTask.choices, required=False)
    model = serializers.CharField(max_length=200, required=False, help_text="A folder below the models folder.")
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    training = serializers.DictField(child=serializers.JSONField(allow_null=True), required=False, default=dict)


class NewTrainedVersionSerializer(Strict):
    system = NameField(max_length=80, help_text="Name of the new system.")
    level = serializers.ChoiceField(
        choices=UnitLevel.choices, required=False, help_text="Level of the version; that of the training if omitted."
    )


class TrainingListView(generics.GenericAPIView[Any]):
    serializer_class = TrainingRowSerializer

    @extend_schema(operation_id="trainings_list", responses=TrainingRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the trainings of a project, newest first."""
        project = permissions.lead_of(signed_in(request), slug).project
        page = self.paginate_queryset(queries.trainings(project))
        return self.get_paginated_response(TrainingRowSerializer(page, many=True).data)

    @extend_schema(operation_id="trainings_start", request=NewTrainingSerializer, responses={201: TrainingSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a training. Raise field errors for what the trainer refuses."""
        member = permissions.lead_of(signed_in(request), slug)
        body = NewTrainingSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        asked = body.validated_data
        split = DataSplit.objects.current().select_related("project").filter(pk=asked["split"]).first()
        if split is None:
            raise Refused.field("split", actions.NO_SPLIT)
        training = actions.request_training(
            project=member.project,
            name=asked["name"],
            trainer=asked["trainer"],
            split=split,
            config=_config(member.project.pk, asked),
            by=member.user,
        )
        return Response(TrainingSerializer(_with_job(training)).data, status=status.HTTP_201_CREATED)


def _config(project: int, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the sections of the trainer for a request. Raise `Refused`."""
    parts = {"training": asked["part"], "development": asked["development"]}
    common = {"training": asked["training"], "parts": parts}
    if preset := asked.get("preset"):
        return _of_preset(preset, asked) | {"parts": parts}
    if asked["trainer"] != trainers.SUMMARISER:
        return {"task": asked.get("task"), "model": {"model": asked.get("model", "")}, "seed": asked["seed"], **common}
    version = Version.objects.filter(pk=asked.get("version", 0), system__project=project).first()
    if version is None:
        raise Refused.field("version", "Choose a version of this project. Its model will be trained.")
    return {"version": {**version.config, "seed": asked["seed"]}, **common}


def _of_preset(key: str, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        preset = presets.get(key)
    except KeyError:
        raise Refused.field("preset", "There is no such preset.") from None
    if preset.trainer != asked["trainer"]:
        raise Refused.field("preset", "This preset belongs to another trainer.")
    return presets.configuration(
        preset,
        model=asked.get("model", ""),
        level=asked.get("level", ""),
        seed=asked["seed"],
        training=asked["training"],
    )


def _with_job(training: FineTuning) -> FineTuning:
    training.newest_job = queries.job_of(training)  # type: ignore[attr-defined]
    training.labelled = queries.settings_of(training)  # type: ignore[attr-defined]
    return training


class TrainingChoicesView(APIView):
    @extend_schema(operation_id="trainings_choices", responses=TrainingChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return trainers, versions, folders and splits to choose from."""
        user = signed_in(request)
        project = permissions.lead_of(user, slug).project
        return Response(TrainingChoicesSerializer(queries.choices(project, user)).data)


class TrainingView(APIView):
    @extend_schema(operation_id="trainings_get", responses=TrainingSerializer)
    def get(self, request: Request, training_id: int) -> Response:
        """Return a training with its curve and its newest job."""
        training, _ = permissions.training_of(signed_in(request), training_id)
        return Response(TrainingSerializer(_with_job(training)).data)


class TrainingResumeView(APIView):
    @extend_schema(operation_id="trainings_resume", request=None, responses=TrainingSerializer)
    def post(self, request: Request, training_id: int) -> Response:
        """Continue a training that failed or was cancelled at its last checkpoint."""
        training, member = permissions.training_of(signed_in(request), training_id)
        actions.resume(training=training, by=member.user)
        training.refresh_from_db()
        return Response(TrainingSerializer(_with_job(training)).data)


class TrainingCheckpointsView(APIView):
    @extend_schema(operation_id="trainings_delete_checkpoints", request=None, responses={202: JobSerializer})
    def delete(self, request: Request, training_id: int) -> Response:
        """Delete the checkpoints of a training that failed or was cancelled, on the worker that has them."""
        training, member = permissions.training_of(signed_in(request), training_id)
        return accepted(actions.request_deletion(training=training, by=member.user))


class TrainedVersionView(APIView):
    @extend_schema(operation_id="trainings_use", request=NewTrainedVersionSerializer, responses={202: JobSerializer})
    def post(self, request: Request, training_id: int) -> Response:
        """Create a system whose first version is the trained model. A worker reads its files."""
        training, member = permissions.training_of(signed_in(request), training_id)
        body = NewTrainedVersionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return accepted(actions.use(training=training, by=member.user, **body.validated_data))

"""Serializers of judges and their runs."""

from typing import Any

from rest_framework import serializers

from api.fields import NameField, ReasonField, Strict
from api.parameters import ParameterSerializer
from generation.project_endpoints.serializers import EndpointSerializer

from ..models import JudgeRunState

Plain = serializers.Serializer[Any]


class JudgePromptSerializer(Plain):
    template = serializers.CharField(help_text="Version of the template of the messages.")
    extra = serializers.CharField(allow_blank=True)
    reasons = serializers.BooleanField()


class JudgeDecodingSerializer(Plain):
    temperature = serializers.FloatField()
    max_tokens = serializers.IntegerField()
    seed = serializers.IntegerField()
    send_seed = serializers.BooleanField()
    json_mode = serializers.BooleanField()
    retries = serializers.IntegerField()
    timeout = serializers.IntegerField()


class JudgeSerializer(Plain):
    """One version of a judge. ``endpoint`` is empty for a chat model on this server."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    number = serializers.IntegerField()
    endpoint = serializers.CharField(allow_blank=True)
    model = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    prompt = JudgePromptSerializer()
    decoding = JudgeDecodingSerializer()
    facts = serializers.DictField(help_text="URL of the endpoint, or digests of the weights.")
    digest = serializers.CharField(help_text="SHA-256 of model, prompt, decoding and facts.")
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class NewPromptSerializer(Strict):
    extra = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    reasons = serializers.BooleanField(required=False)


class NewDecodingSerializer(Strict):
    temperature = serializers.FloatField(required=False)
    max_tokens = serializers.IntegerField(required=False)
    seed = serializers.IntegerField(required=False)
    send_seed = serializers.BooleanField(required=False)
    json_mode = serializers.BooleanField(required=False)
    retries = serializers.IntegerField(required=False)
    timeout = serializers.IntegerField(required=False)


class NewJudgeSerializer(Strict):
    """A new version of a judge. Omitted fields have their defaults."""

    name = NameField(max_length=80)
    endpoint = serializers.CharField(max_length=40, required=False, default="", allow_blank=True)
    model = NameField(max_length=200)
    family = NameField(max_length=60, required=False, default="", allow_blank=True)
    prompt = NewPromptSerializer(required=False)
    decoding = NewDecodingSerializer(required=False)


class JudgedRoundSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    is_open = serializers.BooleanField()
    protocol = serializers.CharField()


class JudgeChoicesSerializer(Plain):
    """What the forms offer."""

    endpoints = EndpointSerializer(many=True)
    models = serializers.ListField(child=serializers.CharField(), help_text="Folders of models on this server.")
    prompt = ParameterSerializer(many=True)
    decoding = ParameterSerializer(many=True)
    rounds = JudgedRoundSerializer(many=True, help_text="Rating rounds, newest first.")


class MessageSerializer(Plain):
    role = serializers.CharField()
    content = serializers.CharField()


class JudgePreviewSerializer(Plain):
    """The messages of one page exactly as a run sends them. Only the delimiter is drawn anew."""

    pages = serializers.IntegerField()
    page = serializers.CharField(allow_blank=True)
    messages = MessageSerializer(many=True)
    suspects = serializers.ListField(
        child=serializers.CharField(), help_text="Sentences of the page that look like instructions to a judge."
    )


class LicenceCountsSerializer(Plain):
    """Number of sources by whether their licences allow to redistribute the texts."""

    allowed = serializers.IntegerField()
    forbidden = serializers.IntegerField()
    unknown = serializers.IntegerField()


class JudgeEstimateSerializer(Plain):
    """What a run would send, and its estimated tokens and cost. ``host`` is empty for a model on this server."""

    host = serializers.CharField(allow_blank=True)
    is_outside = serializers.BooleanField(help_text="Whether the texts leave the server and its private networks.")
    pages = serializers.IntegerField()
    texts = serializers.IntegerField()
    sources = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Answers that the run asks for, without controls and repetitions.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    licences = LicenceCountsSerializer()
    other_sources = serializers.IntegerField(
        help_text="Sources that all systems have summarised, but that neither people nor judges rate."
    )


class JudgePreviewQuerySerializer(Strict):
    page = serializers.IntegerField(min_value=0, max_value=1_000_000, required=False, default=0)


class JudgeEstimateQuerySerializer(Strict):
    judge_set = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    samples = serializers.IntegerField(min_value=1, max_value=20, required=False, default=1)
    both_orders = serializers.BooleanField(required=False, default=False)


class JudgeSetSerializer(Plain):
    """Sources that only judges rate."""

    id = serializers.IntegerField()
    number = serializers.IntegerField()
    sources = serializers.IntegerField()
    pages = serializers.IntegerField()


class NewJudgeSetSerializer(Strict):
    most = serializers.IntegerField(min_value=1, max_value=20_000, required=False, allow_null=True, default=None)


class LimitsSerializer(Strict):
    """Limits of a run. It stops before they are exceeded, apart from answers in progress."""

    max_cost = serializers.DecimalField(max_digits=12, decimal_places=4, min_value=0, required=False, allow_null=True)
    max_tokens = serializers.IntegerField(min_value=1, max_value=2**53, required=False, allow_null=True)


class NewJudgeRunSerializer(LimitsSerializer):
    judge = serializers.IntegerField(min_value=1)
    judge_set = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    samples = serializers.IntegerField(min_value=1, max_value=20, required=False, default=1)
    both_orders = serializers.BooleanField(required=False, default=False)
    concurrency = serializers.IntegerField(min_value=1, max_value=32, required=False, default=4)
    price_in = serializers.DecimalField(max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True)
    price_out = serializers.DecimalField(max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True)
    currency = serializers.RegexField(r"^[A-Z]{3}$", required=False, default="", allow_blank=True)
    licence_reason = ReasonField(max_length=2000, required=False, default="", allow_blank=True)


class JudgeRunSerializer(Plain):
    """A run of a judge with the counts of its answers."""

    id = serializers.IntegerField()
    judge = serializers.IntegerField()
    judge_name = serializers.CharField()
    round = serializers.IntegerField()
    round_name = serializers.CharField()
    round_is_open = serializers.BooleanField()
    protocol = serializers.CharField()
    other_sources = serializers.IntegerField(help_text="Sources that only judges rate.")
    state = serializers.ChoiceField(choices=JudgeRunState.choices)
    error = serializers.CharField(allow_blank=True)
    job = serializers.IntegerField(allow_null=True)
    samples = serializers.IntegerField()
    both_orders = serializers.BooleanField()
    requests = serializers.IntegerField(help_text="Answers that the run asks for, without controls.")
    answers = serializers.IntegerField(help_text="Stored answers, with controls and failed pages.")
    valid = serializers.IntegerField(help_text="Valid answers, without controls.")
    failed = serializers.IntegerField(help_text="Pages, and controls, without a valid answer after all attempts.")
    invalid = serializers.IntegerField(help_text="Invalid replies, including those that were repeated.")
    controls = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    tokens_are_estimated = serializers.BooleanField()
    cost = serializers.FloatField(allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    max_cost = serializers.FloatField(allow_null=True)
    max_tokens = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField()
    host = serializers.CharField(allow_blank=True)
    is_outside = serializers.BooleanField()
    licences = LicenceCountsSerializer()
    licence_reason = serializers.CharField(allow_blank=True)
    models = serializers.ListField(child=serializers.CharField(), help_text="Names that the endpoint returned.")
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class JudgeProgressSerializer(Plain):
    id = serializers.IntegerField()
    status = serializers.CharField()
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


class SuspectSerializer(Plain):
    """A page with sentences that look like instructions, and whether a value changed without them."""

    page = serializers.CharField()
    is_followed = serializers.BooleanField(allow_null=True, help_text="Null: unknown, because an answer is missing.")
    sentences = serializers.ListField(child=serializers.CharField())


class JudgeRunPageSerializer(JudgeRunSerializer):
    system_message = serializers.CharField(allow_blank=True)
    progress = JudgeProgressSerializer(allow_null=True)
    suspects = SuspectSerializer(many=True)


class JudgeFailureSerializer(Plain):
    id = serializers.IntegerField()
    page = serializers.CharField()
    sample = serializers.IntegerField()
    order = serializers.IntegerField()
    control = serializers.CharField(allow_blank=True)
    attempts = serializers.IntegerField()
    invalid = serializers.ListField(child=serializers.CharField())
    error = serializers.CharField()
    raw = serializers.CharField(allow_blank=True, help_text="Beginning of the last reply.")

"""Evidence mapping in JSON."""

from rest_framework import serializers

from projects.serializers.rounds import JobSerializer

from .corpus import Plain


class EvidenceShareSerializer(Plain):
    """The share of pairs with a hit, and its interval over reviews; where there is none, why."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Pairs of a target and a study.")
    clusters = serializers.IntegerField(help_text="Reviews that these are of.")
    sd = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="95 %.")
    undefined = serializers.CharField(allow_blank=True)
    no_interval = serializers.CharField(allow_blank=True)


class EvidenceReportSerializer(Plain):
    """Of the pairs that are both mapped by people and ranked."""

    top_1 = EvidenceShareSerializer(help_text="A sentence that people took is ranked first.")
    top_3 = EvidenceShareSerializer(help_text="It is one of the first three.")
    position = EvidenceShareSerializer(help_text="It stands where the position baseline looks.")
    chance_1 = serializers.FloatField(allow_null=True, help_text="Of a random order.")
    chance_3 = serializers.FloatField(allow_null=True)
    sentences = serializers.FloatField(allow_null=True, help_text="How many an abstract has on average.")


class RankerSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    takes = serializers.CharField(allow_blank=True, help_text="What `model` names; empty where it takes none.")


class RankingTotalsSerializer(Plain):
    ranker = serializers.CharField(help_text="Its name, with what it was made of.")
    ranked = serializers.IntegerField(help_text="Pairs that it has ranked.")
    report = EvidenceReportSerializer()


class EvidenceSerializer(Plain):
    """What there is to rank, and how well rankers find what people mapped."""

    targets = serializers.IntegerField(help_text="Target sentences in force.")
    studies = serializers.IntegerField()
    studies_without_sentences = serializers.IntegerField(help_text="Without an abstract, or not split yet.")
    pairs = serializers.IntegerField(help_text="Of a target and a study of its review whose abstract is there.")
    mapped = serializers.IntegerField(help_text="Of these that people mapped to sentences.")
    not_found = serializers.IntegerField(help_text="Inputs that are no sentence of their study's abstract.")
    no_abstract = serializers.IntegerField(help_text="Inputs of studies without an abstract.")
    baseline = EvidenceReportSerializer(help_text="Of all mapped pairs; the position and chance alone tell something.")
    rankings = RankingTotalsSerializer(many=True)
    rankers = RankerSerializer(many=True)
    job = JobSerializer(allow_null=True, help_text="The newest ranking that is under way, or failed.")


class RankingRequestSerializer(Plain):
    ranker = serializers.CharField(max_length=40)
    model = serializers.CharField(max_length=200, allow_blank=True, default="")

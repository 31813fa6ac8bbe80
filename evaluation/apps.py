from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from audit import triggers
        from audit.witness import watch

        from .models import Protocol, ProtocolVersion

        watch(Protocol, but=("name",))
        watch(ProtocolVersion, batch=100)
        triggers.guard("evaluation_protocolversion")

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "audit"

    def ready(self) -> None:
        from . import leaves, triggers
        from .log import entry_contents
        from .models import Entry, Witness
        from .witness import witness_contents

        leaves.register(Entry, order=("id",), contents=entry_contents)
        leaves.register(Witness, order=("id",), contents=witness_contents)
        triggers.guard("audit_seal")

"""Protocols: versions are numbered, immutable and logged."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from accounts.models import User
from api.problems import Refused
from audit.models import Entry
from evaluation.models import Protocol, ProtocolVersion
from evaluation.protocols import actions
from evaluation.protocols.actions import create_protocol, rename_protocol, write_version
from evaluation.protocols.content import digest, load
from evaluation.protocols.parts import Content
from projects.models import Project
from tests.evaluation.protocol_drafts import criterion, protocol

pytestmark = pytest.mark.django_db
DRAFT = protocol(criterion())


def create(project: Project, lead: User, name: str = "Coherence", content: Any = DRAFT) -> ProtocolVersion:
    return create_protocol(project=project, name=name, content=content, by=lead)


def test_a_project_has_several_protocols_of_one_kind_each_with_versions(project: Project, lead: User) -> None:
    first, other = create(project, lead), create(project, lead, "Other")
    second = write_version(protocol=first.protocol, content=protocol(criterion(), criterion("b")), note="b", by=lead)
    assert [(v.number, v.note) for v in first.protocol.versions.all()] == [(1, ""), (2, "b")]
    assert other.protocol.kind == first.protocol.kind == "rate"
    assert second.digest == digest(load(second.content))
    verbs = list(Entry.objects.filter(object_type="protocolversion").values_list("verb", "after__number"))
    assert verbs == [("write version of rating protocol", n) for n in (1, 1, 2)]


def test_repeated_content_keeps_the_version_and_earlier_content_makes_a_new_one(project: Project, lead: User) -> None:
    first = create(project, lead)
    assert write_version(protocol=first.protocol, content=DRAFT, by=lead) == first
    write_version(protocol=first.protocol, content=protocol(criterion("b")), by=lead)
    back = write_version(protocol=first.protocol, content=DRAFT, by=lead)
    assert (back.number, back.digest) == (3, first.digest)


def test_the_database_changes_and_deletes_no_version(project: Project, lead: User) -> None:
    version = create(project, lead)
    for change in (
        lambda: ProtocolVersion.objects.filter(pk=version.pk).update(note="x"),
        lambda: ProtocolVersion.objects.filter(pk=version.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            change()


def test_two_versions_never_have_one_number(project: Project, lead: User) -> None:
    version = create(project, lead)
    with pytest.raises(IntegrityError), transaction.atomic():
        ProtocolVersion.objects.create(protocol=version.protocol, number=1, content={}, digest="0" * 64)


def test_a_taken_number_is_replaced_by_the_next(project: Project, lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    version, insert, numbers = create(project, lead), actions._insert, list[int]()

    def taken_once(protocol: Protocol, content: Content, number: int, *rest: Any) -> ProtocolVersion:
        numbers.append(number)
        return insert(protocol, content, 1 if len(numbers) == 1 else number, *rest)

    monkeypatch.setattr(actions, "_insert", taken_once)
    written = write_version(protocol=version.protocol, content=protocol(criterion("c")), by=lead)
    assert (written.number, numbers) == (2, [2, 2])


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b", "Coherence"])
def test_a_protocol_has_a_name_of_its_own(project: Project, lead: User, name: str) -> None:
    create(project, lead)
    with pytest.raises(Refused) as refused:
        create(project, lead, name)
    assert refused.value.errors[0]["field"] == "name"
    assert Protocol.objects.count() == 1


def test_a_protocol_is_renamed_and_the_log_has_both_names(project: Project, lead: User) -> None:
    version = create(project, lead)
    create(project, lead, "Taken")
    renamed = rename_protocol(protocol=version.protocol, name=" Order ", by=lead)
    assert (renamed.name, Protocol.objects.get(pk=renamed.pk).name) == ("Order", "Order")
    entry = Entry.objects.get(verb="rename rating protocol")
    assert (entry.before, entry.after) == ({"name": "Coherence"}, {"name": "Order"})
    with pytest.raises(Refused):
        rename_protocol(protocol=renamed, name="Taken", by=lead)
    rename_protocol(protocol=renamed, name="Order", by=lead)
    assert Entry.objects.filter(verb="rename rating protocol").count() == 1


def test_faults_are_refused_by_path_and_a_protocol_keeps_its_kind(project: Project, lead: User) -> None:
    with pytest.raises(Refused) as refused:
        create(project, lead, content=protocol(criterion(key="No")))
    assert refused.value.errors[0]["field"] == "content.criteria.0.key"
    version = create(project, lead)
    with pytest.raises(Refused) as refused:
        write_version(protocol=version.protocol, content=protocol(criterion("better", "preference")), by=lead)
    assert refused.value.errors[0]["field"] == "content.kind"
    with pytest.raises(Refused):
        write_version(protocol=version.protocol, content=DRAFT, note="x" * 301, by=lead)
    assert ProtocolVersion.objects.count() == 1

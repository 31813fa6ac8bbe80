"""E-mail digests: with a real server, without one, and with two workers."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.models import User
from projects.models import Digest, Member, Notification, Project, Round
from projects.notifications import queries
from projects.notifications.queries import AGAIN, PERIOD, send_digests
from projects.tasks import mail
from tests.builders import build_cluster, build_round
from tests.projects import smtp_server

pytestmark = pytest.mark.django_db


class Post:
    """The mail server, which can be down, and what it received."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "mails"
        self.folder.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, smtp_server.__file__, str(self.port), str(self.folder)]
        self.process = subprocess.Popen(command)
        end = time.monotonic() + 30
        while not (self.folder.parent / "ready").exists():
            assert time.monotonic() < end
            time.sleep(0.02)

    def mails(self) -> list[EmailMessage]:
        read = [message_from_bytes(p.read_bytes(), policy=policy.default) for p in sorted(self.folder.iterdir())]
        return [mail for mail in read if isinstance(mail, EmailMessage)]


@pytest.fixture
def post(tmp_path: Path, settings: object) -> Iterator[Post]:
    made = Post(tmp_path)
    for name, value in (
        ("EMAIL_BACKEND", "django.core.mail.backends.smtp.EmailBackend"),
        ("EMAIL_HOST", "127.0.0.1"),
        ("EMAIL_PORT", made.port),
        ("DEFAULT_FROM_EMAIL", "concord@example.org"),
        ("BASE_URL", "https://concord.example.org"),
    ):
        setattr(settings, name, value)
    yield made
    if made.process:
        made.process.terminate()
        made.process.wait()


@pytest.fixture
def round(project: Project, ann1: User, ann2: User) -> Round:
    User.objects.update(email_verified_at=timezone.now())
    build_cluster(project, inputs=1)
    return build_round(project, list(Member.objects.filter(user__in=[ann1, ann2])), name="Second\u00a0labels")


def test_a_server_that_is_away_loses_nothing_and_once_it_is_back_each_gets_one_mail_a_day(
    post: Post, round: Round, ann1: User, ann2: User
) -> None:
    User.objects.filter(pk=ann2.pk).update(preferences={"mail": False})
    now = timezone.now()
    assert send_digests(now) == 0
    assert Notification.objects.filter(mailed_at=None).count() == 2
    # At most one e-mail in a while for each person.
    assert send_digests(now + timedelta(minutes=1)) == 0
    post.start()
    assert send_digests(now + timedelta(minutes=1)) == 0, "it is another worker's until then"
    assert send_digests(now + AGAIN) == 1
    [mail] = post.mails()
    assert (mail["To"], mail["From"]) == (ann1.email, "concord@example.org")
    assert mail.get_content_type() == "text/plain"
    text = mail.get_content()
    assert "Round opened: Second labels (Eye)" in text
    assert f"https://concord.example.org/work/{round.pk}" in text
    assert "https://concord.example.org/profile" in text
    # Nothing is sent twice.
    assert send_digests(now + AGAIN) == send_digests(now + PERIOD) == 0
    build_round(round.project, [Member.objects.get(user=ann1)], name="third")
    assert send_digests(now + PERIOD) == 0
    assert send_digests(now + AGAIN + PERIOD) == 1
    assert "third" in post.mails()[1].get_content()
    assert "Second" not in post.mails()[1].get_content()
    assert post.mails()[0]["Message-ID"] != post.mails()[1]["Message-ID"]


def test_a_refused_address_does_not_stop_mail_to_others(post: Post, round: Round, ann1: User, ann2: User) -> None:
    User.objects.filter(pk=ann1.pk).update(email="refused@example.org")
    post.start()
    assert send_digests() == 1
    assert [mail["To"] for mail in post.mails()] == [ann2.email]
    assert Notification.objects.get(user=ann1).mailed_at is None


def test_no_mail_without_server_verified_address_or_unread_entries(
    post: Post, round: Round, ann1: User, ann2: User, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queries, "_send", lambda user, entries, newest: sent.append(user.email))
    host = settings.EMAIL_HOST  # type: ignore[attr-defined]
    settings.EMAIL_HOST = ""  # type: ignore[attr-defined]
    assert mail() == 0
    settings.EMAIL_HOST = host  # type: ignore[attr-defined]
    User.objects.filter(pk=ann2.pk).update(email_verified_at=None)
    Notification.objects.filter(user=ann1).update(read_at=timezone.now())
    assert mail() == 0
    Notification.objects.update(read_at=None)
    # A person who may no longer see the project gets nothing.
    Member.objects.filter(user=ann1).update(left_at=timezone.now())
    assert mail() == 0
    assert Notification.objects.get(user=ann1).mailed_at is not None
    assert Digest.objects.get(user=ann1).sent_at is None
    assert sent == []


def test_concurrent_workers_send_a_digest_once(post: Post, round: Round, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def send(user: User, entries: object, newest: int) -> None:
        sent.append(user.email)
        send_digests(now)

    now = timezone.now()
    monkeypatch.setattr(queries, "_send", send)
    send_digests(now)
    assert sorted(sent) == ["ann1@example.org", "ann2@example.org"]

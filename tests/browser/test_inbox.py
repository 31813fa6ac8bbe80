"""An annotator's flag reaches the lead's inbox, is answered and settled, and the annotator reads the reply."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.site import Site

#: In a separate project, because other tests count the sample's rounds.
RAISE = """
from accounts.models import User
from projects.people.actions import add_member, create_project
from projects.queue.actions import next_assignments
from tests.builders import answer, build_cluster, build_round
lead, person = (User.objects.get(email=name + '@example.org') for name in ('lead', 'ann2'))
project = create_project(by=lead, name='Raised')
member = add_member(project=project, user=person, role='annotator', by=lead)
build_cluster(project)
round = build_round(project, [member], name='raised')
value = {'polarity': 'positive', 'modality': 'weak', 'polarity_cue': [], 'modality_cue': []}
answer(member.user, next_assignments(user=member.user, round=round)[0], value, comment='Which arm is meant?', flag=True)
"""


def nothing_for_axe(visit: Visit) -> None:
    for scheme in ("dark", "light"):
        visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(visit) + unnamed_controls(visit) == [], (visit.page.url, scheme)


def test_a_comment_is_answered_settled_and_read(visit: Callable[..., Visit], site: Site) -> None:
    site.manage("shell", "-v0", "-c", RAISE)
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/raised")
    page.get_by_role("region", name="Needs you").get_by_role("link", name="Answer").click()
    item = page.get_by_role("row").filter(has_text="Which arm is meant?")
    item.get_by_role("button", name="Reply").click()
    dialog = page.get_by_role("dialog", name="Reply")
    dialog.get_by_label("Reply or note").fill("The second one.")
    dialog.get_by_role("button", name="Reply", exact=True).click()
    expect(dialog).to_contain_text("replied: The second one.")
    nothing_for_axe(lead)
    page.keyboard.press("Escape")
    expect(item).to_contain_text("replied: The second one.")
    nothing_for_axe(lead)
    item.get_by_role("button", name="Resolve").click()
    expect(item).to_have_count(0)
    page.get_by_role("radio", name="Resolved").check()
    expect(item).to_contain_text("resolved")

    item.get_by_role("link", name="raised").click()
    page.get_by_text("History", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="open round")).to_be_visible()
    nothing_for_axe(lead)

    person = visit("ann2")
    person.go("/")
    person.page.get_by_text("1 reply to you", exact=True).click()
    expect(person.page.get_by_text("The second one.")).to_be_visible()
    nothing_for_axe(person)

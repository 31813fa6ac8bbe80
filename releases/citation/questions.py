"""Questions of the datasheet (Gebru et al., Datasheets for Datasets) and of HEDS 3.0, in short form.

Files answer a question from the rows of the project, then with the lead's answer, else with NOT PROVIDED.
"""

from typing import NamedTuple

from .facts import NOT_PROVIDED


class Question(NamedTuple):
    """A question. ``id`` is the key of the lead's answer."""

    id: str
    section: str
    text: str


_DATASHEET: dict[str, dict[str, str]] = {
    "Motivation": {
        "purpose": "For what purpose was the data set created?",
        "creators": "Who created it, and on behalf of whom?",
        "funding": "Who paid for it?",
    },
    "Composition": {
        "instances": "What do the instances represent?",
        "count": "How many instances are there of each type?",
        "sample": "Is it a sample of a larger set, and how was it drawn?",
        "content": "What does each instance consist of?",
        "labels": "Is there a label or target for each instance?",
        "missing": "Is information missing from instances?",
        "relations": "Are relations between instances explicit?",
        "splits": "Are there recommended splits?",
        "errors": "Are there errors, noise or redundancies?",
        "external": "Does it depend on external resources?",
        "confidential": "Does it contain confidential data?",
        "offensive": "Does it contain data that may offend or harm?",
        "people": "Does it concern people, and can they be identified?",
    },
    "Collection": {
        "acquired": "How were the data of each instance acquired?",
        "mechanisms": "Which tools collected the data, and how were they validated?",
        "workers": "Who was involved, and how were they paid?",
        "time": "Over what time were the data collected?",
        "ethics": "Was there an ethical review?",
        "consent": "Were the people concerned informed, and did they consent?",
        "impact": "Was the impact on the people concerned analysed?",
    },
    "Preprocessing and labelling": {
        "preprocessing": "How were the data preprocessed or labelled?",
        "raw": "Are the raw data kept?",
        "software": "Is the software for this available?",
    },
    "Uses": {
        "used": "What has it been used for?",
        "papers": "Where are papers and systems that use it listed?",
        "other": "What else could it be used for?",
        "risks": "Could its composition or collection affect later uses?",
        "unfit": "What should it not be used for?",
    },
    "Distribution": {
        "distributed": "How is it distributed, and does it have a DOI?",
        "licence": "Under which licence is it distributed?",
        "third parties": "Do third parties restrict the data?",
        "export": "Do export controls or other rules apply?",
    },
    "Maintenance": {
        "maintainer": "Who maintains it, and how can they be contacted?",
        "erratum": "Is there an erratum?",
        "updates": "Will it be updated, how often and by whom?",
        "older": "Are older versions kept?",
        "contribute": "How can others contribute?",
    },
}
#: Items of HEDS 3.0 about a whole evaluation, and about each quality criterion (section 4).
_HEDS: dict[str, dict[str, str]] = {
    "1 Main reference and resources": {
        "1.1": "Main reference of the experiment",
        "1.2": "Other resources",
        "1.3": "Contact and author of this sheet",
    },
    "2 Evaluated systems": {
        "2.1": "Type of input",
        "2.2": "Type of output",
        "2.3": "Task",
        "2.4": "Language of the input",
        "2.5": "Language of the output",
    },
    "3 Outputs, evaluators and design": {
        "3.1.1": "Number of outputs per system",
        "3.1.2": "How outputs were selected",
        "3.1.3": "Statistical power of the sample",
        "3.2.1": "Number of evaluators",
        "3.2.2": "Expertise, payment and acquaintance of evaluators",
        "3.2.3": "Recruitment of evaluators",
        "3.2.4": "Training and practice of evaluators",
        "3.2.5": "Other characteristics of evaluators",
        "3.3.1": "Preregistration",
        "3.3.2": "Medium of the responses",
        "3.3.3": "Quality assurance",
        "3.3.4": "What evaluators saw",
        "3.3.5": "Freedom of evaluators in when and where they work",
        "3.3.6": "Whether evaluators could ask questions",
        "3.3.7": "Conditions of the evaluation",
    },
    "4 Quality criteria": {
        "4.1.1": "Type of quality",
        "4.1.2": "Aspect of outputs",
        "4.2.1": "Subjective or objective",
    },
    "5 Ethics": {
        "5.1": "Ethical approval",
        "5.2": "Personal data",
        "5.3": "Special categories of data",
        "5.4": "Impact assessments",
    },
}


def _listed(sheet: str, sections: dict[str, dict[str, str]]) -> tuple[Question, ...]:
    return tuple(
        Question(f"{sheet}.{key}", section, text) for section, items in sections.items() for key, text in items.items()
    )


DATASHEET, HEDS = _listed("datasheet", _DATASHEET), _listed("heds", _HEDS)
IDS = frozenset(question.id for question in (*DATASHEET, *HEDS))


def answer(question: Question, from_rows: str, answers: dict[str, str]) -> str:
    """Return the answer that follows from the data, and the lead's; NOT PROVIDED if there is neither."""
    given = answers.get(question.id, "").strip()
    return "\n\n".join(filter(None, (from_rows, given))) or NOT_PROVIDED

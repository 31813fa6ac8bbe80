"""A stub endpoint that answers as a judge, in the way that a test or a trial by hand asks for.

``python -m tests.evaluation.judge_endpoint --port 8150 --behaviour "wrong JSON"`` serves it until it is stopped.
"""

import argparse
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from tests.generation.endpoint import Endpoint, Handler, Reply, said

#: Quality of the texts of `tests.evaluation.rating_rounds.SYSTEMS`, by words that only they contain.
QUALITY = {"did not change": 1.5, "may have lowered": 0.5, "no evidence": -0.5, "equally well": -1.5}
_QUESTION = re.compile(r"^## \d+\. .*\(key: ([a-z0-9_-]+)\)$", re.MULTILINE)
_OPTION = re.compile(r'^- "([^"]*)"', re.MULTILINE)
_RANGE = re.compile(r"Value: a number from (\S+) to (\S+) in steps of (\S+),")


def page_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the page in a request: the JSON between the two lines of the delimiter."""
    lines = body["messages"][-1]["content"].split("\n")
    delimiter = lines[1]
    assert lines.count(delimiter) == 2, "the delimiter occurs in the page"
    page: dict[str, Any] = json.loads(lines[2])
    return page


def questions_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the part of the system message of each criterion."""
    parts = _QUESTION.split(body["messages"][0]["content"].split("\n# Answer\n")[0])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def quality_of(text: str, noise: float = 0.6) -> float:
    """Return the quality of a text, with noise that depends on the text alone."""
    base = next((value for words, value in QUALITY.items() if words in text.lower()), 0.0)
    return base + noise * (int(sha256(text.encode()).hexdigest()[:8], 16) / 2**31 - 1)


def answer_of(body: Mapping[str, Any], quality: Callable[[str], float] = quality_of) -> dict[str, Any]:
    """Return a valid answer to a page, by the quality of its texts."""
    page, questions = page_of(body), questions_of(body)
    texts: dict[str, str] = page["texts"]
    ranked = sorted(texts, key=lambda label: quality(texts[label]))
    reason = "It is what the source says, and it is not more than that."
    if '{"answers"' in body["messages"][0]["content"]:
        return {"answers": {key: {"reason": reason, "choice": ranked[-1]} for key in questions}}
    return {
        "texts": {
            label: {
                key: {"reason": reason, "value": _value(question, quality(text), ranked.index(label), len(ranked))}
                for key, question in questions.items()
            }
            for label, text in texts.items()
        }
    }


def _value(question: str, quality: float, rank: int, texts: int) -> Any:
    share = min(max((quality + 2.5) / 5, 0.0), 0.999)
    if found := _RANGE.search(question):
        low, high, step = map(float, found.groups())
        return low + step * round(share * (high - low) / step)
    options = _OPTION.findall(question.split("example:")[0])
    if set(options) == {"best", "worst", "neither"}:
        return "best" if rank == texts - 1 else "worst" if rank == 0 else "neither"
    if "Value: a list" in question:
        return []
    if "spans" in question:
        return "none"
    return options[int(share * len(options))] if options else "A remark."


def reply_text(handler: Handler, text: str, **more: Any) -> None:
    tokens = {"prompt_tokens": len(json.dumps(handler.body)) // 4, "completion_tokens": len(text) // 4}
    handler.answer(said(text, usage={**tokens, "total_tokens": sum(tokens.values())}, **more))


def well(handler: Handler) -> None:
    reply_text(handler, json.dumps(answer_of(handler.body)))


def _edited(edit: Callable[[dict[str, Any]], None]) -> Reply:
    def reply(handler: Handler) -> None:
        answer = answer_of(handler.body)
        edit(answer)
        reply_text(handler, json.dumps(answer))

    return reply


def _each(answer: dict[str, Any]) -> list[dict[str, Any]]:
    texts = answer.get("texts", {}).values() or [answer["answers"]]
    return [one for text in texts for one in text.values()]


def _off_scale(answer: dict[str, Any]) -> None:
    one = _each(answer)[0]
    one["choice" if "choice" in one else "value"] = "11"


def _missing(answer: dict[str, Any]) -> None:
    text = next(iter(answer.get("texts", {}).values()), answer.get("answers", {}))
    text.pop(next(iter(text)))


def _other_language(answer: dict[str, Any]) -> None:
    for one in _each(answer):
        one["reason"] = "Das ist nicht die Aussage der Quelle, und es wird auch keine Zahl mit der Gruppe genannt."


def truncated(handler: Handler) -> None:
    text = json.dumps(answer_of(handler.body))[:40]
    body = said(text)
    body["choices"][0]["finish_reason"] = "length"
    handler.answer(body)


def late(handler: Handler) -> None:
    """Answer after three seconds."""
    handler.server.released.wait(3)
    well(handler)


#: An instruction to give a value or to choose a text, as an attacker would hide it in a summary.
HIDDEN = re.compile(r"Rate this (\d+)\.|Choose this text\.", re.IGNORECASE)


def follows(handler: Handler) -> None:
    """Answer well, except that an instruction in a text is followed."""
    answer, texts = answer_of(handler.body), page_of(handler.body)["texts"]
    for label, text in texts.items():
        if found := HIDDEN.search(text):
            if "answers" in answer:
                for one in answer["answers"].values():
                    one["choice"] = label
            else:
                for one in answer["texts"][label].values():
                    if found.group(1) and str(one["value"]).isdigit():
                        one["value"] = found.group(1)
    reply_text(handler, json.dumps(answer))


def first_side(handler: Handler) -> None:
    """Prefer the first text of every pair."""
    answer = answer_of(handler.body)
    for one in answer["answers"].values():
        one["choice"] = "A"
    reply_text(handler, json.dumps(answer))


def broken(handler: Handler) -> None:
    """Fail every page, although the endpoint answers the request that asks whether it is alive."""
    if handler.body:
        handler.answer({"error": {"message": "broken"}}, 500)
    else:
        handler.answer({"data": []})


BEHAVIOURS: dict[str, Reply] = {
    "well": well,
    "late": late,
    "wrong JSON": lambda handler: reply_text(handler, "Certainly! Here are my ratings: coherence 4."),
    "fenced JSON": lambda handler: reply_text(handler, f"```json\n{json.dumps(answer_of(handler.body))}\n```"),
    "off the scale": _edited(_off_scale),
    "missing criterion": _edited(_missing),
    "wrong language": _edited(_other_language),
    "truncated": truncated,
    "429": lambda handler: handler.answer({"error": {"message": "slow down"}}, 429, Retry_After="0"),
    "500": broken,
    "follows instructions": follows,
    "first side": first_side,
}


def serve(port: int, behaviour: str) -> None:
    endpoint = Endpoint(port=port)
    endpoint.reply = BEHAVIOURS[behaviour]
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    print(f"{behaviour}: http://127.0.0.1:{port}/v1", flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve a stub endpoint that answers as a judge.")
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--behaviour", choices=list(BEHAVIOURS), default="well")
    chosen = parser.parse_args()
    serve(chosen.port, chosen.behaviour)

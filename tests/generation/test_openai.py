"""Summaries by an endpoint: requests, stored fields of replies, and all kinds of failures."""

import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings

from api.outgoing.transport import Limits
from generation import backends
from generation.backends.identity import checked
from generation.backends.openai import client as clients
from generation.backends.openai.backend import EndpointSummariser
from generation.backends.openai.client import Client
from generation.backends.protocol import BackendError, Failure, Finish, InputText, Output, PassingError, Source
from generation.endpoints import parse
from tests.generation.endpoint import Endpoint, Handler, closed, said, serving, status

KEY = "sk-very/secret-5f3a"


@pytest.fixture
def endpoint(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    with serving() as running:
        settings.GENERATION_ENDPOINTS = parse(f"lab={running.url}")
        settings.GENERATION_NETWORKS = []
        yield running


def unit(number: int = 1, *texts: str) -> Source:
    inputs = tuple(map(InputText, texts or (f"Text of unit {number}.",)))
    return Source(number, f"{number}_0", inputs, {"i": "nepralin"}, "Known.", "Does it help?")


def config(**sections: dict[str, Any]) -> dict[str, Any]:
    model = {"model": "tiny"} | sections.pop("model", {})
    return checked({"backend": "openai", "seed": 7, "model": model, **sections})


def asker(limits: Limits | None = None, **sections: dict[str, Any]) -> EndpointSummariser:
    made, backend = config(**sections), backends.get("openai")
    loaded = backend.load(made, backend.facts(made))
    assert isinstance(loaded, EndpointSummariser)
    if limits:
        loaded.client.limits = limits
    return loaded


def outcomes(loaded: EndpointSummariser, *units: Source) -> list[Output | Failure]:
    return [one for group in loaded.summarise(units or (unit(),)) for one in group]


def output(loaded: EndpointSummariser, source: Source | None = None) -> Output:
    (one,) = outcomes(loaded, source or unit())
    assert isinstance(one, Output), one
    return one


def failure(loaded: EndpointSummariser) -> str:
    (one,) = outcomes(loaded)
    assert isinstance(one, Failure), one
    return one.reason


def test_a_request_holds_what_was_configured_and_nothing_else(endpoint: Endpoint) -> None:
    prompt = {"system": "Be brief about {i}.", "template": "{question} {{7*7}} {x.__class__} {inputs}"}
    output(asker(prompt=prompt, decoding={"top_p": 0.5}), unit(1, "One.", "Two."))
    (body,) = endpoint.posts()
    assert body == {
        "model": "tiny",
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 256,
        "seed": 7,
        "stream": False,
        "messages": [
            {"role": "system", "content": "Be brief about nepralin."},
            {"role": "user", "content": "Does it help? {{7*7}} {x.__class__} One.\n\nTwo."},
        ],
    }
    assert endpoint.seen[0][1] == "/v1/chat/completions"


def test_parameters_left_to_the_endpoint_are_not_sent(endpoint: Endpoint) -> None:
    output(asker(decoding={"temperature": None, "max_tokens": None, "send_seed": False}))
    assert endpoint.posts()[0].keys() == {"model", "messages", "stream"}


def test_metadata_of_the_endpoint_are_stored(endpoint: Endpoint) -> None:
    made = output(asker())
    assert (made.text, made.finish, made.tokens_in, made.tokens_out, made.tokens_cut) == (
        "It helps.",
        Finish.COMPLETE,
        12,
        3,
        None,
    )
    raw = made.record["raw"]
    assert '"fp_1"' in raw
    assert {name: value for name, value in made.record.items() if name != "raw"} == {
        "model": "tiny-instruct",
        "fingerprint": "fp_1",
        "finish reason": "stop",
        "seed": "taken",
        "tries": 1,
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        "base URL": endpoint.url,
    }
    assert backends.get("openai").facts(config())["reproducibility"] == "recorded"


@pytest.mark.parametrize(
    ("reason", "finish"), [("length", Finish.LENGTH), ("content_filter", Finish.UNKNOWN), (None, Finish.UNKNOWN)]
)
def test_the_finish_reason_of_a_text_is_stored(endpoint: Endpoint, reason: str | None, finish: Finish) -> None:
    answer = said()
    answer["choices"][0]["finish_reason"] = reason
    endpoint.reply = lambda handler: handler.answer(answer)
    assert output(asker()).finish is finish


def test_a_long_reply_is_stored_in_part_and_marked(endpoint: Endpoint) -> None:
    endpoint.reply = lambda handler: handler.answer(said(extra="x" * 30_000))
    raw = output(asker()).record["raw"]
    assert len(raw) < 20_100
    assert raw.endswith("more characters)")


def test_implausible_token_counts_are_stored_as_none(endpoint: Endpoint) -> None:
    endpoint.reply = lambda handler: handler.answer(said(usage={"prompt_tokens": -1, "completion_tokens": 2**40}))
    made = output(asker())
    assert (made.tokens_in, made.tokens_out, made.record["usage"]) == (None, None, {})


def test_inputs_are_cut_to_a_budget_of_words_and_what_was_cut_is_kept(endpoint: Endpoint) -> None:
    assembly = {"budget_size": 4, "budget": "equal shares", "separator": " | "}
    made = output(asker(assembly=assembly, prompt={"template": "{inputs}"}), unit(1, "a b c d", "e", "f g h"))
    assert endpoint.posts()[0]["messages"][0]["content"] == "a b | e | f"
    assert made.record["cut"] == {"unit": "words", "of": 8, "left out": 4}


def test_inputs_are_cut_to_a_budget_of_characters_from_the_front(endpoint: Endpoint) -> None:
    made = output(
        asker(assembly={"budget_size": 5, "unit": "characters"}, prompt={"template": "{inputs}"}),
        unit(1, "abc", "defg", "h"),
    )
    assert endpoint.posts()[0]["messages"][0]["content"] == "abc\n\nde"
    assert made.record["cut"] == {"unit": "characters", "of": 8, "left out": 3}


def test_a_unit_without_what_the_prompt_names_fails_alone_and_is_not_sent(endpoint: Endpoint) -> None:
    bare = Source(2, "2_0", (InputText("Text of unit 2."),))
    for sections in (
        {"prompt": {"template": "{background} {inputs}"}},
        {"prompt": {"system": "{question}"}},
        {"assembly": {"pico": True}},
    ):
        came = {one.unit: one for one in outcomes(asker(**sections), unit(1), bare)}
        assert isinstance(came[1], Output)
        assert isinstance(failed := came[2], Failure)
        assert failed.reason.startswith("The unit has no ")
    assert len(endpoint.posts()) == 3


def test_a_refused_seed_is_omitted_and_recorded(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        fault = {"error": {"message": "Unrecognized request argument supplied: seed"}}
        handler.answer(fault, 400) if "seed" in handler.body else handler.answer(said())

    endpoint.reply = reply
    assert output(asker()).record["seed"] == "refused"


@pytest.mark.parametrize("number", [408, 429, 500, 502, 503, 504])
def test_a_temporary_error_of_an_endpoint_is_retried(endpoint: Endpoint, number: int) -> None:
    endpoint.one_after_the_other(status(number, b"oops"), closed, lambda handler: handler.answer(said()))
    assert output(asker()).record["tries"] == 3


@pytest.mark.parametrize(
    ("asked", "waits"),
    [("7", 7.0), ("100000", 60.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", None), ("-3", None), ("٣", None)],
)
def test_a_requested_wait_is_respected_within_limits(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, asked: str, waits: float | None
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(clients.RequestGroup, "wait", lambda effort, seconds: waited.append(seconds))
    monkeypatch.setattr(clients, "FIRST_PAUSE", 2.0)
    retry = asked.encode().decode("latin-1")
    endpoint.one_after_the_other(status(429, b"", Retry_After=retry), lambda handler: handler.answer(said()))
    output(asker())
    assert len(waited) == 1
    assert waited[0] == waits if waits is not None else 1.5 <= waited[0] <= 2.5


def test_pauses_between_attempts_grow_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = [clients._pause(number) for number in range(1, 20)]
    assert pauses[1] > pauses[0] * 1.1
    assert max(pauses) <= clients.LONGEST_PAUSE * 1.25


def test_a_request_that_the_endpoint_cannot_do_fails_alone(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        if handler.command == "GET" or "unit 2" not in handler.prompt:
            return handler.answer(said())
        return handler.answer({"error": {"message": "CUDA error"}}, 500)

    endpoint.reply = reply
    came = {one.unit: one for one in outcomes(asker(), unit(1), unit(2), unit(3))}
    assert isinstance(came[1], Output)
    assert isinstance(came[3], Output)
    assert came[2] == Failure(
        2, "The request failed 4 times: The endpoint 'lab' answered with HTTP 500: \"CUDA error\"."
    )


def test_an_endpoint_that_only_answers_500_is_unavailable(endpoint: Endpoint) -> None:
    endpoint.reply = status(500, b"down")
    with pytest.raises(PassingError, match=r"'lab' is unavailable: .* HTTP 500"):
        outcomes(asker())


def test_an_endpoint_without_a_listener_is_a_passing_error(settings: LazySettings, endpoint: Endpoint) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.GENERATION_ENDPOINTS = parse(f"lab=http://127.0.0.1:{unused.getsockname()[1]}/v1")
        with pytest.raises(PassingError, match=r"No connection to 127\.0\.0\.1"):
            outcomes(asker())


def test_an_endpoint_that_hangs_is_unavailable(endpoint: Endpoint) -> None:
    endpoint.reply = endpoint.hold
    with pytest.raises(PassingError, match=r"no response within 0\.2 s"):
        outcomes(asker(Limits(total=0.2)))


def test_an_endpoint_that_trickles_does_not_get_more_time(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not endpoint.released.wait(0.02):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    endpoint.reply = reply
    with pytest.raises(PassingError, match=r"no response within 0\.4 s"):
        outcomes(asker(Limits(total=0.4)))


def test_headers_that_trickle_get_no_more_time_either(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not endpoint.released.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()

    endpoint.reply = reply
    with pytest.raises(PassingError, match=r"no response within 0\.4 s"):
        outcomes(asker(Limits(total=0.4)))


def test_a_hang_that_passes_costs_a_try(endpoint: Endpoint) -> None:
    endpoint.one_after_the_other(endpoint.hold, lambda handler: handler.answer(said()))
    assert output(asker(Limits(total=1.0))).record["tries"] >= 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>Welcome</html>", 'not JSON, beginning "<html>Welcome'),
        (b"", "0 bytes that are not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"7" * 5000, "not JSON"),
        ([], "JSON that is not an object: []"),
        (b"null", "JSON that is not an object: null"),
        ({}, "an answer without choices: {}"),
        ({"choices": []}, "an answer without choices"),
        ({"choices": {"a": 1}}, "an answer without choices"),
        ({"choices": ["text"]}, 'a choice without a text: "text"'),
        ({"choices": [{"message": None}]}, "a choice without a text"),
        (said(None), "a choice without a text"),
        (said(["a"]), "a choice without a text"),
        (said(3), "a choice without a text"),
        (said("a\0b"), "a text with a NUL character"),
        (said("a\ud800b"), "a text with half a surrogate pair"),
    ],
)
def test_a_malformed_reply_is_a_failure_that_quotes_it(endpoint: Endpoint, body: Any, words: str) -> None:
    endpoint.reply = lambda handler: handler.answer(body)
    reason = failure(asker())
    assert words in reason
    assert "\0" not in reason
    assert len(endpoint.posts()) == 1


def test_names_that_cannot_be_stored_are_left_out(endpoint: Endpoint) -> None:
    endpoint.reply = lambda handler: handler.answer(said(model="a\0", system_fingerprint={"x": 1}))
    made = output(asker())
    assert (made.record["model"], made.record["fingerprint"]) == ("", "")
    assert "\0" not in made.record["raw"]


@pytest.mark.parametrize("announced", [True, False])
def test_a_huge_answer_is_not_read_to_its_end(endpoint: Endpoint, announced: bool) -> None:
    def reply(handler: Handler) -> None:
        handler.send_response(200)
        if announced:
            handler.send_header("Content-Length", str(2**40))
        handler.end_headers()
        while not endpoint.released.is_set():
            handler.wfile.write(b"x" * 65536)

    endpoint.reply = reply
    assert failure(asker(Limits(size=2**20))) == "The endpoint sent a response of more than 1 MiB."


@pytest.mark.parametrize("number", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(endpoint: Endpoint, number: int) -> None:
    to = "http://169.254.169.254/latest/meta-data/"
    endpoint.reply = status(number, b"", Location=to)
    with pytest.raises(BackendError, match=f'HTTP {number}. It redirects to "{to}"; redirects are never followed'):
        outcomes(asker())
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize("number", [401, 403, 404])
def test_errors_of_every_request_stop_the_run_with_the_endpoints_message(endpoint: Endpoint, number: int) -> None:
    endpoint.reply = status(number, {"error": {"message": "The model `tiny` does not exist."}})
    with pytest.raises(BackendError, match=f'HTTP {number}: "The model `tiny` does not exist."'):
        outcomes(asker(model={"concurrency": 1}), *(unit(n) for n in range(20)))
    assert len(endpoint.seen) <= 2


def test_a_request_that_is_too_long_is_a_failure_with_the_endpoints_words(endpoint: Endpoint) -> None:
    endpoint.reply = status(400, {"object": "error", "message": "This model's maximum context length is 8 tokens."})
    assert "maximum context length is 8 tokens" in failure(asker())


def test_an_api_key_is_sent_in_its_header_only(
    endpoint: Endpoint, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("LAB_KEY", f"{KEY}\n")
    settings.GENERATION_ENDPOINTS = parse(f"lab={endpoint.url} LAB_KEY")
    endpoint.one_after_the_other(
        lambda handler: handler.answer(said(echo=handler.headers["Authorization"])),
        status(401, f'{{"error": {{"message": "Wrong key: {KEY}"}}}}'.replace("/", r"\/").encode()),
        status(302, b"", Location=f"http://elsewhere.example/?key={KEY}"),
    )
    loaded = asker()
    made = output(loaded)
    assert endpoint.seen[0][2]["Authorization"] == f"Bearer {KEY}"
    with pytest.raises(BackendError) as refused:
        outcomes(loaded)
    with pytest.raises(BackendError, match=r"redirects to \"http://elsewhere.example/\?key=\[key\]\"") as redirected:
        outcomes(loaded)
    facts = backends.get("openai").facts(config())
    shown = repr((made, str(refused.value), str(redirected.value), facts, config(), loaded.client.endpoint))
    assert "Wrong key: [key]" in str(refused.value)
    escaped = KEY.replace("/", r"\/")
    assert not [word for word in (KEY, escaped) if word in shown]
    assert KEY not in caplog.text


@pytest.mark.parametrize(("value", "words"), [(None, "set LAB_KEY"), ("", "set LAB_KEY"), ("a\r\nX: b", "in LAB_KEY")])
def test_a_key_that_is_missing_or_would_be_a_header_of_its_own_is_refused(
    endpoint: Endpoint, settings: LazySettings, monkeypatch: pytest.MonkeyPatch, value: str | None, words: str
) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("LAB_KEY", value)
    settings.GENERATION_ENDPOINTS = parse(f"lab={endpoint.url} LAB_KEY")
    with pytest.raises(BackendError, match=words):
        outcomes(asker())
    assert not endpoint.seen


def test_so_many_requests_are_under_way_at_once(endpoint: Endpoint) -> None:
    together = threading.Barrier(3)

    def reply(handler: Handler) -> None:
        together.wait(30)
        handler.answer(said(handler.prompt[-2:]))

    endpoint.reply = reply
    came = outcomes(asker(model={"concurrency": 3}), *(unit(n) for n in range(6)))
    assert sorted((one.unit, one.text) for one in came if isinstance(one, Output)) == [(n, f"{n}.") for n in range(6)]


def test_finished_requests_are_yielded_while_others_run(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        if "unit 1." in handler.prompt:
            endpoint.hold(handler)
        handler.answer(said())

    endpoint.reply = reply
    groups = asker(model={"concurrency": 2}).summarise([unit(n) for n in range(4)])
    early = [one.unit for group in (next(groups),) for one in group]
    while len(early) < 3:
        early += [one.unit for one in next(groups)]
    endpoint.released.set()
    assert sorted(early) == [0, 2, 3]
    assert [one.unit for group in groups for one in group] == [1]


def test_stopping_does_not_wait_for_replies(endpoint: Endpoint) -> None:
    held = threading.Event()

    def reply(handler: Handler) -> None:
        if "unit 1." in handler.prompt:
            held.set()
            endpoint.hold(handler)
        handler.answer(said())

    endpoint.reply = reply
    groups = asker(Limits(total=300), model={"concurrency": 2}).summarise([unit(n) for n in range(9)])
    next(groups)
    assert held.wait(30)
    closing = threading.Thread(target=groups.close, daemon=True)  # type: ignore[attr-defined]
    closing.start()
    closing.join(30)
    assert not closing.is_alive()
    assert len(endpoint.posts()) < 9


def test_finished_items_are_kept_when_the_endpoint_fails(endpoint: Endpoint) -> None:
    def reply(handler: Handler) -> None:
        if "unit 1." in handler.prompt:
            endpoint.hold(handler)
            handler.answer(said())
        else:
            # It stops answering even the health request.
            if handler.command == "GET":
                endpoint.released.set()
            handler.answer(b"", 500)

    endpoint.reply = reply
    groups = asker(model={"concurrency": 2}).summarise([unit(1), unit(2)])
    came: list[Output | Failure] = []

    def resume() -> None:
        for group in groups:
            came.extend(group)

    with pytest.raises(PassingError):
        resume()
    assert [one.unit for one in came if isinstance(one, Output)] == [1]


def test_an_endpoint_that_is_not_named_is_refused(endpoint: Endpoint, settings: LazySettings) -> None:
    made, backend = config(), backends.get("openai")
    facts = backend.facts(made)
    settings.GENERATION_ENDPOINTS = parse("other=http://127.0.0.1:9/v1")
    with pytest.raises(BackendError, match="no endpoint 'lab'; configured endpoints: other"):
        backend.facts(made)
    settings.GENERATION_ENDPOINTS = parse("lab=http://127.0.0.1:9/v1")
    with pytest.raises(BackendError, match="base URL"):
        backend.load(made, facts)


def test_a_client_needs_no_settings_of_a_proxy(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://169.254.169.254:3128")
    assert isinstance(asker().client, Client)
    assert output(asker()).text == "It helps."

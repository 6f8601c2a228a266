"""Request lines: bytes in, a frozen request or a refusal out."""

from __future__ import annotations

import pytest

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.protocol import (
    MAX_LINE_BYTES,
    VERBS,
    format_error,
    parse_piece,
    parse_request,
)
from edge_tts.daemon.requests import (
    Ack,
    Clear,
    Events,
    Hello,
    Ping,
    Reload,
    Say,
    Shelve,
    Silence,
    Status,
    StatusFormat,
    Stream,
    Target,
    Test,
    Wait,
)
from edge_tts.errors import RequestError

pytestmark = pytest.mark.core


def refusal(line: bytes | str) -> str:
    """The ERR line that answers a request line."""
    with pytest.raises(RequestError) as caught:
        parse_request(line if isinstance(line, bytes) else line.encode())
    assert str(caught.value)
    return format_error(caught.value)


def test_say_with_every_field() -> None:
    line = (
        "SAY prio=critical key=tank7 ttl=60 repeat=30 wait=started prefix=警告 tone=horn_2 "
        "gain=-3.5 speed=1.25 text=7号罐压力过高"
    )
    assert parse_request(line.encode()) == Say(
        text="7号罐压力过高",
        priority=Priority.CRITICAL,
        key="tank7",
        ttl_s=60.0,
        repeat_s=30.0,
        prefix="警告",
        tone="horn_2",
        gain_db=-3.5,
        speed=1.25,
        wait=Wait.STARTED,
    )


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("SAY text=a=b prio=low 'quoted' \"raw\" \\n", "a=b prio=low 'quoted' \"raw\" \\n"),
        ("SAY key=k text=two  spaces", "two  spaces"),
        ("警告", "警告"),
        ("TEST 3 failed", "TEST 3 failed"),
        ("CLEAR the area", "CLEAR the area"),
        ("SAY hello", "SAY hello"),
        ("STATUS of pump 3 = off", "STATUS of pump 3 = off"),
        ("PINGS are late", "PINGS are late"),
        ("test", "test"),
        ("silence", "silence"),
        ("Clear", "Clear"),
        ("7号罐 text=x", "7号罐 text=x"),
        ("text=hello", "text=hello"),
        ("[1, 2]", "[1, 2]"),
        ('"quoted"', '"quoted"'),
        ("\ufeff警告", "警告"),
        ("  \t padded \t ", "padded"),
        ("%s%n%x {0} ${VAR}", "%s%n%x {0} ${VAR}"),
        ("../../../../etc/passwd", "../../../../etc/passwd"),
        ("\x01\x02\x1b[31mALARM\x1b[0m", "\x01\x02\x1b[31mALARM\x1b[0m"),
    ],
)
def test_what_is_spoken(line: str, text: str) -> None:
    for end in ("", "\n", "\r\n"):
        request = parse_request((line + end).encode())
        assert isinstance(request, Say)
        assert request.text == text


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("PING", Ping()),
        ("PING\r\n", Ping()),
        ("RELOAD", Reload()),
        ("HELLO", Hello()),
        ("HELLO proto=2 client=plc-7", Hello(2, "plc-7")),
        ("STATUS", Status()),
        ("STATUS format=json", Status(StatusFormat.JSON)),
        ("status format=Prometheus", Status(StatusFormat.PROMETHEUS)),
        ("EVENTS", Events()),
        ("EVENTS key=tank7 prio=high", Events("tank7", Priority.HIGH)),
        ("CLEAR key=tank7", Clear(Target(key="tank7"))),
        ("CLEAR id=12", Clear(Target(id=12))),
        ("ACK all=yes", Ack(Target(all=True))),
        ("ack\tKEY=tank7", Ack(Target(key="tank7"))),
        ('ACK key="tank 7"', Ack(Target(key="tank 7"))),
        ("SILENCE", Silence()),
        ("SILENCE for=0", Silence(0.0)),
        ("SHELVE key=door for=600", Shelve("door", 600.0)),
        ("SHELVE key=door for=0.5 critical=yes", Shelve("door", 0.5, critical=True)),
        ("TEST", Test()),
        ("TEST prio=high wait=finished", Test(Priority.HIGH, Wait.FINISHED)),
        ("say text=hi", Say("hi")),
        ("Say PRIO=HIGH text=hi", Say("hi", Priority.HIGH)),
        ("STREAM prio=low key=s", Stream(Say("", Priority.LOW, key="s"))),
        ("STREAM", Stream(Say(""))),
        ('SAY prefix="Attention please" text="q"', Say('"q"', prefix="Attention please")),
        ("SAY ttl=0 repeat=0 text=x", Say("x")),
    ],
)
def test_requests(line: str, request_: object) -> None:
    assert parse_request(line.encode()) == request_


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ('{"text": "hi"}', Say("hi")),
        (
            '{"verb":"say","text":"a\\nb","prio":"high","ttl":60,"gain":-1.5,"key":"a b"}',
            Say("a\nb", Priority.HIGH, key="a b", ttl_s=60.0, gain_db=-1.5),
        ),
        ('{"verb":"ACK","all":true}', Ack(Target(all=True))),
        ('{"verb":"SHELVE","key":"k","for":5,"critical":false}', Shelve("k", 5.0)),
        ('{"verb":"PING"}', Ping()),
        ('{"verb":"CLEAR","id":7}', Clear(Target(id=7))),
        ('{"text":42}', Say("42")),
    ],
)
def test_json_requests(line: str, request_: object) -> None:
    assert parse_request(line.encode()) == request_


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("", "ERR 65 empty-text"),
        ("  \r\n", "ERR 65 empty-text"),
        ("SAY text=", "ERR 65 empty-text"),
        ("SAY prio=high", "ERR 64 missing-field field=text"),
        ("SAY", "ERR 64 missing-field field=text"),
        (
            "SAY colour=red text=x",
            "ERR 64 unknown-field field=colour "
            "allowed=prio,key,ttl,repeat,wait,prefix,tone,gain,speed,text",
        ),
        ("PING a=b", "ERR 64 unknown-field field=a allowed=none"),
        ("SAY prio=urgent text=x", "ERR 64 bad-value field=prio allowed=critical|high|medium|low"),
        ("SAY prio=high prio=low text=x", "ERR 64 duplicate-field field=prio"),
        ("SAY prio=high hello", "ERR 64 bad-field verb=SAY"),
        ("SAY ttl=-1 text=x", 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ("SAY ttl=nan text=x", 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ("SAY ttl=1e3 text=x", 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ("SAY ttl=٣ text=x", 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ("SAY ttl=" + "9" * 5000, "ERR 65 line-too-long max_bytes=4096"),
        ("SAY ttl=" + "9" * 2000 + " text=x", 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ("SAY gain=13 text=x", 'ERR 64 bad-value field=gain allowed="-40..12 dB"'),
        ("SAY speed=3 text=x", "ERR 64 bad-value field=speed allowed=0.5..2"),
        ("SAY key= text=x", 'ERR 64 bad-value field=key allowed="1..64 printable characters"'),
        ("SAY key=a\u202eb text=x", "ERR 64 bad-value field=key"),
        ('SAY key="open text=x', "ERR 64 bad-value field=key"),
        ('SAY key="a"b text=x', "ERR 64 bad-value field=key"),
        ("SAY wait=never text=x", "ERR 64 bad-value field=wait allowed=accepted|started|finished"),
        ("SAY tone=../x.wav text=x", "ERR 64 bad-value field=tone"),
        ("CLEAR", "ERR 64 missing-field field=key|id|all"),
        ("CLEAR all=no", "ERR 64 bad-value field=all allowed=yes"),
        ("ACK key=a id=1", "ERR 64 conflicting-fields field=key|id|all"),
        ("ACK id=0", 'ERR 64 bad-value field=id allowed="a positive whole number"'),
        ("ACK id=99999999999999999999", "ERR 64 bad-value field=id"),
        ("SHELVE key=a", "ERR 64 missing-field field=for"),
        ("SHELVE for=5", "ERR 64 missing-field field=key"),
        ("{", "ERR 65 json"),
        ('{{ states("sensor.t") }} tank', "ERR 65 json"),
        ('{"text":"x"} tail', "ERR 65 json"),
        ("[" * 4000, None),
        ('{"a":' * 800, "ERR 65 json"),
        ('{"text":"x","ttl":' + "9" * 4000 + "}", "ERR 64 bad-value field=ttl"),
        ('{"text":"x","ttl":NaN}', 'ERR 64 bad-value field=ttl allowed="0..604800 s"'),
        ('{"text":"x","ttl":null}', "ERR 64 bad-value field=ttl"),
        ('{"text":["x"]}', "ERR 64 bad-value field=text"),
        ('{"text":"x","text":"y"}', "ERR 64 duplicate-field field=text"),
        ('{"verb":"FLY"}', "ERR 64 unknown-verb allowed=" + ",".join(VERBS)),
        ('{"verb":7}', "ERR 64 unknown-verb"),
        ('{"text":"x","colour":1}', "ERR 64 unknown-field field=colour"),
        ("{}", "ERR 64 missing-field field=text"),
        ('{"text":" "}', "ERR 65 empty-text"),
    ],
)  # fmt: skip
def test_refusals(line: str, answer: str | None) -> None:
    if answer is None:
        assert parse_request(line.encode()) == Say(line)
        return
    got = refusal(line)
    assert got == answer or got.startswith(answer + " ")
    assert len(got) < 300


def test_line_bound_counts_bytes() -> None:
    assert parse_request(b"x" * MAX_LINE_BYTES + b"\r\n") == Say("x" * MAX_LINE_BYTES)
    assert refusal("好" * 1366) == "ERR 65 line-too-long max_bytes=4096"
    with pytest.raises(RequestError):
        parse_request(b"x" * 300, max_line_bytes=256)


CUT = "电机过载".encode()[:-1]


@pytest.mark.parametrize("priority", ["critical", "high"])
def test_urgent_text_is_spoken_without_its_bad_bytes(priority: str) -> None:
    for line in (
        b"SAY prio=%s text=%s" % (priority.encode(), CUT),
        b'{"prio":"%s","text":"%s"}' % (priority.encode(), CUT),
    ):
        request = parse_request(line)
        assert request == Say("电机过", Priority.from_word(priority), warnings=("encoding",))
    stream = parse_request(b"STREAM prio=%s key=k\xff" % priority.encode())
    assert stream == Stream(Say("", Priority.from_word(priority), key="k", warnings=("encoding",)))


@pytest.mark.parametrize(
    ("line", "offset"),
    [
        (b"SAY prio=medium text=" + CUT, 30),
        (CUT, 9),
        ("1号电机过载".encode("gbk"), 1),
        (b"\xff", 0),
        (b"CLEAR key=\xe7", 10),
        (b"SAY prio=high text=\xff\xfe", 19),
        (b'{"prio":"low","text":"a\x80"}', 23),
        (b"PING \xc0\xaf", 5),
    ],
)
def test_other_bad_bytes_are_refused_with_their_offset(line: bytes, offset: int) -> None:
    assert refusal(line) == f"ERR 65 encoding offset={offset}"


def test_lone_surrogates_in_json_are_bad_encoding() -> None:
    assert refusal('{"text":"a\\ud800"}').startswith("ERR 65 encoding")
    request = parse_request(b'{"prio":"high","text":"a\\ud800b"}')
    assert request == Say("ab", Priority.HIGH, warnings=("encoding",))
    assert refusal('{"prio":"high","text":"\\ud800"}').startswith("ERR 65")
    assert parse_request(b'{"text":"\\ud83d\\ude00"}') == Say("\U0001f600")


def test_stream_pieces() -> None:
    assert parse_piece("第一句。\r\n".encode(), Priority.LOW) == ("第一句。", ())
    assert parse_piece(b"\n", Priority.LOW) == ("", ())
    assert parse_piece(CUT, Priority.HIGH) == ("电机过", ("encoding",))
    # Bad bytes alone must not look like the empty line that ends a stream.
    assert parse_piece(b"\xff", Priority.CRITICAL) == (" ", ("encoding",))
    with pytest.raises(RequestError) as caught:
        parse_piece(CUT, Priority.MEDIUM)
    assert format_error(caught.value) == "ERR 65 encoding offset=9"

"""Who may do what."""

from __future__ import annotations

import grp
import os
import pwd
import socket

import pytest

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.protocol import VERBS, format_error, parse_request
from edge_tts.daemon.roles import (
    Credentials,
    Role,
    RoleTable,
    check_role,
    peer_credentials,
    required_role,
)
from edge_tts.errors import ConfigError, RequestError

STRANGER = Credentials(pid=1, uid=54_321, gid=54_321, groups=frozenset({54_321, 777}))


def test_credentials_of_this_process() -> None:
    here, there = socket.socketpair()
    with here, there:
        peer = peer_credentials(here)
    assert (peer.pid, peer.uid, peer.gid) == (os.getpid(), os.geteuid(), os.getegid())
    assert peer.groups == {os.getegid(), *os.getgroups()}


@pytest.mark.skipif(os.geteuid() != 0, reason="taking other groups on needs root")
def test_supplementary_groups_of_another_process() -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0edgetts-test-{os.getpid()}")
        listener.listen()
        child = os.fork()
        if child == 0:
            os.setgroups([77, 88])
            os.setgid(1234)
            os.setuid(65_534)
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(listener.getsockname())
                client.recv(1)
            os._exit(0)
        connection, _ = listener.accept()
        with connection:
            peer = peer_credentials(connection)
        os.waitpid(child, 0)
    assert (peer.pid, peer.uid, peer.gid) == (child, 65_534, 1234)
    assert peer.groups == {1234, 77, 88}


def test_roles_by_everybody_user_and_group() -> None:
    table = RoleTable(
        {"say": ["*"], "critical": ["54321"], "operator": ["@777"], "admin": ["@54321"]}
    )
    assert table.roles_of(STRANGER) == Role.ALL
    other = Credentials(1, 9999, 9999)
    assert table.roles_of(other) == Role.SAY
    assert table.roles_of(Credentials(1, 9999, 777)) == Role.SAY | Role.OPERATOR
    assert table.unknown == ()


def test_names_are_looked_up() -> None:
    user = next(entry for entry in pwd.getpwall() if entry.pw_uid not in (0, os.geteuid()))
    group = next(entry for entry in grp.getgrall() if entry.gr_gid != user.pw_gid)
    table = RoleTable({"critical": [user.pw_name], "operator": [f"@{group.gr_name}"]})
    assert table.roles_of(Credentials(1, user.pw_uid, 54_321)) == Role.CRITICAL
    assert table.roles_of(Credentials(1, 54_321, group.gr_gid)) == Role.OPERATOR
    assert table.roles_of(STRANGER) == Role.NONE


def test_root_and_the_own_user_may_do_all() -> None:
    table = RoleTable({})
    assert table.roles_of(Credentials(1, 0, 0)) == Role.ALL
    assert table.roles_of(Credentials(1, os.geteuid(), 54_321)) == Role.ALL
    assert table.roles_of(STRANGER) == Role.NONE


def test_names_that_do_not_exist_are_left_out_and_told() -> None:
    table = RoleTable({"say": ["no-such-user", "@no-such-group", "*"]})
    assert table.unknown == ("no-such-user", "@no-such-group")
    assert table.roles_of(STRANGER) == Role.SAY


@pytest.mark.parametrize("rules", [{"boss": ["*"]}, {"say": [""]}, {"say": ["@"]}])
def test_wrong_rules(rules: dict[str, list[str]]) -> None:
    with pytest.raises(ConfigError):
        RoleTable(rules)


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("警告", Role.SAY),
        ("SAY text=x", Role.SAY),
        ("SAY prio=high text=x", Role.SAY),
        ("SAY prio=critical text=x", Role.CRITICAL),
        ("STREAM", Role.SAY),
        ("STREAM prio=critical", Role.CRITICAL),
        ("CLEAR key=a", Role.SAY),
        ("ACK key=a", Role.OPERATOR),
        ("SILENCE", Role.OPERATOR),
        ("SHELVE key=a for=5", Role.OPERATOR),
        ("RELOAD", Role.ADMIN),
        ("TEST", Role.ADMIN),
        ("STATUS", Role.NONE),
        ("EVENTS", Role.NONE),
        ("PING", Role.NONE),
        ("HELLO", Role.NONE),
    ],
)
def test_role_that_a_request_needs(line: str, role: Role) -> None:
    request = parse_request(line.encode())
    assert required_role(request) == role
    check_role(request, Role.ALL)
    check_role(request, role)
    if role is not Role.NONE:
        with pytest.raises(RequestError) as refused:
            check_role(request, Role.ALL & ~role)
        assert format_error(refused.value) == f"ERR 77 denied role={role.words}"


def test_every_verb_is_in_the_table_above() -> None:
    covered = {mark.split()[0] for mark, _ in test_role_that_a_request_needs.pytestmark[0].args[1]}
    assert set(VERBS) <= covered


def test_role_words() -> None:
    assert Role.ALL.words == "say,critical,operator,admin"
    assert (Role.SAY | Role.ADMIN).words == "say,admin"
    assert Role.NONE.words == ""
    assert Priority.CRITICAL.word == Role.CRITICAL.words

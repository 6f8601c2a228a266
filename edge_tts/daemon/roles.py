"""Who may do what: the peer of a socket, its roles by configuration, the role a request needs.

A role is given to user names or numbers (``scada``, ``1001``), to groups
(``@operators``), or to ``*``: everybody who may open the socket at all.
"""

from __future__ import annotations

import array
import enum
import grp
import os
import pwd
import socket
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from edge_tts.daemon.alarm import Priority
from edge_tts.daemon.requests import (
    Ack,
    Clear,
    Reload,
    Request,
    Say,
    Shelve,
    Silence,
    Stream,
    Test,
)
from edge_tts.errors import ConfigError, RequestError

# From <asm-generic/socket.h>; the socket module does not name it.
_SO_PEERGROUPS = 59
_UCRED = struct.Struct("3i")
# The socket module takes no larger buffer than 1,024 bytes.
_PEER_GROUPS_BYTES = 1024


class Role(enum.Flag):
    """What a peer may do; roles add up."""

    NONE = 0
    SAY = 1
    """SAY and STREAM below critical, and CLEAR of alarms of one's own."""
    CRITICAL = 2
    """SAY and STREAM at critical priority."""
    OPERATOR = 4
    """ACK, SILENCE, SHELVE, and CLEAR of anybody's alarms."""
    ADMIN = 8
    """RELOAD and TEST."""
    ALL = 15

    @property
    def words(self) -> str:
        """``say,operator``, as HELLO answers it."""
        return ",".join(role.name.lower() for role in _SINGLE if role in self and role.name)


_SINGLE = (Role.SAY, Role.CRITICAL, Role.OPERATOR, Role.ADMIN)


@dataclass(frozen=True)
class Credentials:
    """The process at the other end when it connected; ``groups`` hold ``gid`` too."""

    pid: int
    uid: int
    gid: int
    groups: frozenset[int] = field(default_factory=frozenset)


def peer_credentials(connection: socket.socket) -> Credentials:
    """Read SO_PEERCRED and the supplementary groups of a connected Unix socket.

    Raises:
        OSError: the socket has no peer credentials.
    """
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid, uid, gid = _UCRED.unpack(raw)
    return Credentials(pid, uid, gid, frozenset({gid, *_peer_groups(connection, uid, gid)}))


def _peer_groups(connection: socket.socket, uid: int, gid: int) -> Iterable[int]:
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, _PEER_GROUPS_BYTES)
    except OSError:
        # More than 256 groups: the user database has to do.
        try:
            return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
        except KeyError:
            return ()
    return array.array("I", raw)


class RoleTable:
    """Roles by user and group. Root and the daemon's own user have every role.

    Args:
        rules: role name (``say``, ``critical``, ``operator``, ``admin``) to
            those who have it.

    A user or group that this machine does not have is left out and listed in
    ``unknown``: an installation may name groups that are made later.

    Raises:
        ConfigError: there is no such role, or a name is empty.
    """

    def __init__(self, rules: Mapping[str, Iterable[str]]) -> None:
        self._everybody = Role.NONE
        self._users: dict[int, Role] = {0: Role.ALL, os.geteuid(): Role.ALL}
        self._groups: dict[int, Role] = {}
        unknown = []
        for name, subjects in rules.items():
            role = next((role for role in _SINGLE if role.words == name), None)
            if role is None:
                raise ConfigError(
                    f"there is no role {name!r}; there are: {Role.ALL.words.replace(',', ', ')}"
                )
            for subject in subjects:
                if not self._add(role, subject):
                    unknown.append(subject)
        self.unknown = tuple(unknown)

    def _add(self, role: Role, subject: str) -> bool:
        if subject == "*":
            self._everybody |= role
            return True
        name = subject.removeprefix("@")
        if not name:
            raise ConfigError(f"{subject!r} names nobody; write a user, @group or *")
        table = self._groups if subject.startswith("@") else self._users
        number = _group_id(name) if table is self._groups else _user_id(name)
        if number is None:
            return False
        table[number] = table.get(number, Role.NONE) | role
        return True

    def roles_of(self, peer: Credentials) -> Role:
        """Every role that the peer has."""
        roles = self._everybody | self._users.get(peer.uid, Role.NONE)
        for gid in {peer.gid, *peer.groups}:
            roles |= self._groups.get(gid, Role.NONE)
        return roles


def _user_id(name: str) -> int | None:
    if name.isascii() and name.isdigit():
        return int(name)
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def _group_id(name: str) -> int | None:
    if name.isascii() and name.isdigit():
        return int(name)
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        return None


def required_role(request: Request) -> Role:
    """The role a request needs; NONE: everybody who is connected.

    CLEAR needs only ``say``, and then reaches the peer's own alarms alone: the
    caller passes ``owner_uid`` to the queue for a peer that is no operator.
    """
    if isinstance(request, Stream):
        request = request.header
    if isinstance(request, Say):
        return Role.CRITICAL if request.priority is Priority.CRITICAL else Role.SAY
    if isinstance(request, Clear):
        return Role.SAY
    if isinstance(request, (Ack, Silence, Shelve)):
        return Role.OPERATOR
    return Role.ADMIN if isinstance(request, (Reload, Test)) else Role.NONE


def check_role(request: Request, roles: Role) -> None:
    """Refuse a request that the roles do not allow.

    Raises:
        RequestError: 77 ``denied``, with the role that is needed.
    """
    needed = required_role(request)
    if needed not in roles:
        raise RequestError(
            77,
            "denied",
            f"this request needs the role {needed.words}; an administrator can grant it",
            {"role": needed.words},
        )

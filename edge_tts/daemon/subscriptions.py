"""Who hears of which event: callers that wait for their alarm, and EVENTS subscribers."""

from __future__ import annotations

from dataclasses import dataclass

from edge_tts.daemon.alarm import Event, EventKind
from edge_tts.daemon.connection import Connection
from edge_tts.daemon.protocol import format_event
from edge_tts.daemon.requests import Events, Wait


@dataclass(eq=False)
class _Follower:
    connection: Connection
    until: Wait


class Subscriptions:
    """Belongs to the server's thread."""

    def __init__(self) -> None:
        self._followers: dict[int, list[_Follower]] = {}
        self._subscribers: dict[Connection, Events] = {}

    def follow(self, alarm_id: int, connection: Connection, until: Wait) -> None:
        """Tell a caller of its alarm until it is in the state it waits for.

        A connection follows an alarm once, until the latest state asked for: requests
        folded into one alarm must not add up.
        """
        if until is Wait.ACCEPTED:
            return
        followers = self._followers.setdefault(alarm_id, [])
        for follower in followers:
            if follower.connection is connection:
                if until is Wait.FINISHED:
                    follower.until = until
                return
        connection.pending += 1
        followers.append(_Follower(connection, until))

    def subscribe(self, connection: Connection, request: Events) -> None:
        connection.subscribed = True
        self._subscribers[connection] = request

    def forget(self, connection: Connection) -> None:
        """The connection is closed."""
        self._subscribers.pop(connection, None)
        for alarm_id in list(self._followers):
            left = [f for f in self._followers[alarm_id] if f.connection is not connection]
            if left:
                self._followers[alarm_id] = left
            else:
                del self._followers[alarm_id]

    def deliver(self, event: Event) -> None:
        """Write one event to everybody who hears of it; once to each."""
        told = set() if event.kind is EventKind.ACCEPTED else self._tell_followers(event)
        line = None
        for connection, wanted in self._subscribers.items():
            if connection in told or event.priority < wanted.min_priority:
                continue
            if wanted.key is None or wanted.key == event.key:
                line = line or format_event(event, full=True)
                connection.send(line)

    def announce(self, line: str) -> None:
        """Write a line that belongs to no alarm to every subscriber."""
        for connection in self._subscribers:
            connection.send(line)

    def _tell_followers(self, event: Event) -> set[Connection]:
        followers = self._followers.pop(event.alarm_id, [])
        line = format_event(event)
        left = []
        for follower in followers:
            follower.connection.send(line)
            started = event.kind is EventKind.STARTED and follower.until is Wait.STARTED
            if started or event.kind is EventKind.FINISHED:
                follower.connection.pending -= 1
            else:
                left.append(follower)
        if left:
            self._followers[event.alarm_id] = left
        return {follower.connection for follower in followers}

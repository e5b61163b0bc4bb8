#!/usr/bin/env python3
"""Talks with an agent in the terminal, with the Python SDK: each line of the input is a turn, whose
answer is printed as it comes. PARLANCE_BASE_URL, PARLANCE_API_KEY and PARLANCE_AGENT_ID name the
agent.

    python3 chat.py
"""

from __future__ import annotations

import os
import sys

import parlance
from parlance.v1 import CreateTurnResponse


def answer(client: parlance.Client, session_id: str, text: str) -> CreateTurnResponse | None:
    """Prints the answer to a text as it comes, and returns it; None: it was not given."""
    try:
        for event in client.sessions.stream_turn(session_id=session_id, text=text):
            kind = event.WhichOneof("event")
            if kind == "started":
                print("\nAgent: ", end="")  # again when another server begins the answer anew
            elif kind == "text_delta":
                print(event.text_delta.text, end="", flush=True)
            elif kind == "tool_called":
                print(f"[{event.tool_called.call.slug}] ", end="", flush=True)
            elif kind == "done":
                print()
                return event.done.turn
    except parlance.ParlanceError as error:
        if error.is_reason(parlance.Reason.SESSION_CLOSED, parlance.Reason.AUTH_INVALID_KEY):
            raise
        print(f"\nThere is no answer: {error}", file=sys.stderr)
    return None


def main() -> None:
    """Has the conversation."""
    with parlance.Client() as client:
        session = client.sessions.create_session(
            agent_id=os.environ["PARLANCE_AGENT_ID"], user_id="terminal", modality="text"
        )
        try:
            for line in sys.stdin:
                if not line.strip():
                    continue
                turn = answer(client, session.id, line.strip())
                for passage in turn.citations if turn is not None else ():
                    print(f"  from {passage.source_name}")
        except KeyboardInterrupt:
            pass
        ended = client.sessions.end_session(session_id=session.id, status="completed")
        print(f"{ended.id} is {ended.status}, {ended.turn_count} turns.")


if __name__ == "__main__":
    main()

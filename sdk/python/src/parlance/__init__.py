"""A client of Parlance, the service for voice and text agents.

    client = parlance.Client()  # PARLANCE_BASE_URL and PARLANCE_API_KEY
    agent = client.agents.create_agent(workspace_id="ws_…", name="Ada")

Client blocks, AsyncClient is for asyncio; parlance.webhooks verifies deliveries, and parlance.v1 has
the messages.
"""

from . import webhooks
from ._client import AsyncClient, Client
from ._errors import CONNECTION_FAILED, NOT_PARLANCE, FieldError, ParlanceError, is_reason
from ._outbox import Answer
from ._realtime import Conversation, Event
from ._reasons import Reason
from ._version import __version__

__all__ = [
    "CONNECTION_FAILED",
    "Answer",
    "AsyncClient",
    "Client",
    "Conversation",
    "Event",
    "FieldError",
    "NOT_PARLANCE",
    "ParlanceError",
    "Reason",
    "__version__",
    "is_reason",
    "webhooks",
]

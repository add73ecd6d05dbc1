"""Reads a Heron stream as a member of a consumer group."""

import json
import logging
import signal

log = logging.getLogger(__name__)


class Consumer:
    """Delivers messages to a handler and acknowledges them afterwards.

    A message is acknowledged only when the handler returns. If it raises, the message
    is delivered again, at most `max_attempts` times, and then goes to the dead-letter
    stream.
    """

    def __init__(self, client, stream, group, max_attempts=5):
        self.client = client
        self.stream = stream
        self.group = group
        self.max_attempts = max_attempts
        self.running = True
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, signum, frame):
        # Finish the message at hand, then leave the group so that its partitions
        # move to another member at once.
        self.running = False

    def run(self, handler):
        with self.client.join(self.stream, self.group) as membership:
            while self.running:
                message = membership.poll(timeout=1.0)
                if message is None:
                    continue
                self._deliver(membership, message, handler)

    def _deliver(self, membership, message, handler):
        try:
            handler(json.loads(message.body))
        except Exception:
            log.exception("handler failed for offset %d", message.offset)
            if message.attempt >= self.max_attempts:
                self.client.publish(self.stream + ".dead", message.body)
                membership.ack(message)
            else:
                membership.nack(message, delay=2 ** message.attempt)
            return
        membership.ack(message)

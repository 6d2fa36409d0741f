"""Call something after a while: one thread for all of it, woken only when a new time comes before all others."""

import heapq
import threading
import time
from collections.abc import Callable
from typing import Final

_PRUNE_AT: Final = 1024


class Timer:
    """Something that will happen unless it is cancelled."""

    __slots__ = ("call", "when")

    def __init__(self, when: float, call: Callable[[], None]) -> None:
        self.when = when
        self.call: Callable[[], None] | None = call

    def __lt__(self, other: "Timer") -> bool:
        return self.when < other.when

    def cancel(self) -> None:
        """Call it off; what it would have called is let go."""
        self.call = None


class Alarm:
    """Timers in order. With one time limit for all calls the thread sleeps through almost every one of them."""

    def __init__(self) -> None:
        self._timers: list[Timer] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Have ``call`` called from the alarm's thread in ``seconds``."""
        timer = Timer(time.monotonic() + seconds, call)
        with self._changed:
            if len(self._timers) >= _PRUNE_AT:
                self._prune()
            heapq.heappush(self._timers, timer)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="alarm", daemon=True)
                self._thread.start()
            elif self._timers[0] is timer:
                self._changed.notify()
        return timer

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._timers or self._timers[0].when > time.monotonic():
                    self._changed.wait(self._timers[0].when - time.monotonic() if self._timers else None)
                call = heapq.heappop(self._timers).call
            if call is not None:
                call()

    def _prune(self) -> None:
        """Cancelled timers stay where they are until their time; drop them once there are many."""
        first = self._timers[0]
        live = [timer for timer in self._timers if timer.call is not None or timer is first]
        if len(live) <= len(self._timers) // 2:
            heapq.heapify(live)
            self._timers = live

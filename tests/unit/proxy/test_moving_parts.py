"""The parts with threads in them: descriptors and the alarm."""

import os
import threading
import time

from okn_benchmark.proxy.alarm import Alarm
from okn_benchmark.proxy.front import Inlet, Outlet


def test_timers_fire_in_order_and_cancelled_ones_do_not() -> None:
    alarm, fired, done = Alarm(), [], threading.Event()
    late = alarm.after(0.2, lambda: fired.append("late"))
    alarm.after(0.05, lambda: fired.append("second"))
    alarm.after(0.01, lambda: fired.append("first"))
    late.cancel()
    alarm.after(0.25, done.set)
    assert done.wait(5)
    assert fired == ["first", "second"]


def test_an_earlier_timer_wakes_the_alarm() -> None:
    alarm, done = Alarm(), threading.Event()
    alarm.after(60, lambda: None)
    started = time.monotonic()
    alarm.after(0.02, done.set)
    assert done.wait(5)
    assert time.monotonic() - started < 2


def test_cancelled_timers_do_not_pile_up() -> None:
    alarm = Alarm()
    for _ in range(5000):
        alarm.after(600, lambda: None).cancel()
    assert len(alarm._timers) < 2100


def test_lines_keep_their_order_whatever_their_size() -> None:
    read, write = os.pipe()
    outlet, got, ended = Outlet(write), [], threading.Event()

    def deliver(batch: object) -> None:
        got.extend(batch) if isinstance(batch, list) else ended.set()

    sent = [bytes([65 + n % 26]) * (n * 997 % 300_000) + b"\n" for n in range(60)]
    for line in sent[:30]:
        outlet.send(line)  # nobody reads yet: the pipe fills up and the rest waits
    Inlet(read, deliver).start()
    for line in sent[30:]:
        outlet.send(line)
    assert outlet.flush(10)
    os.close(write)
    assert ended.wait(10)
    os.close(read)
    assert got == sent


def test_a_reader_that_leaves_is_noticed_once() -> None:
    read, write = os.pipe()
    outlet, noticed = Outlet(write), []
    outlet.on_broken(lambda: noticed.append(1))
    os.close(read)
    for _ in range(3):
        outlet.send(b"x\n")
    outlet.send(b"y" * 100_000)
    assert not outlet.flush(5)
    assert noticed == [1]
    os.close(write)


def test_writing_to_somebody_who_does_not_read_does_not_wait() -> None:
    read, write = os.pipe()
    outlet = Outlet(write)
    started = time.monotonic()
    for _ in range(100):
        outlet.send(b"z" * 100_000 + b"\n")
    assert time.monotonic() - started < 2
    assert outlet.crowded
    assert not outlet.flush(0.05)
    outlet.close()
    outlet.wait_for_room()  # returns, since nothing will be written any more
    os.close(read)

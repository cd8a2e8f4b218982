"""Test that settings, forced directions and recorders are validated and have the right scope."""

import threading

import pytest

import graphla as gl
from graphla.settings import Event, Recorder, config, direction, forced_direction, record, recorders
from semirings.exceptions import InvalidValue

event = Event("vxm", "any_secondi[BOOL]", "push", "forced", 3, 2, 0.5)


def in_a_thread(function):
    got = []
    thread = threading.Thread(target=lambda: got.append(function()))
    thread.start()
    thread.join()
    return got[0]


def test_a_setting_applies_only_inside_its_block_and_thread():
    before = config.threads
    with config.set(threads=7, compiled=False) as inside:
        assert inside is config
        assert (config.threads, config.compiled) == (7, False)
        assert in_a_thread(lambda: config.threads) == before
        with config.set(threads=3):
            assert (config.threads, config.compiled) == (3, False)
        assert config.threads == 7
    assert config.threads == before
    assert f"threads={before}" in repr(config)


def test_an_assigned_setting_applies_to_the_whole_process():
    before = config.compile_threshold
    try:
        config.compile_threshold = 5
        assert in_a_thread(lambda: config.compile_threshold) == 5
        with config.set(threads=1), pytest.raises(InvalidValue, match=r"config\.threads is"):
            config.threads = 2
    finally:
        config.compile_threshold = before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("device", "tpu"),
        ("compiled", "yes"),
        ("compiled", 1),
        ("compile_threshold", -1),
        ("threads", 0),
        ("threads", True),
        ("threads", 1.5),
    ],
)
def test_the_error_about_an_invalid_value_of_a_setting_names_the_setting(name, value):
    with pytest.raises(InvalidValue, match=name):
        setattr(config, name, value)
    with pytest.raises(InvalidValue, match=name), config.set(**{name: value}):
        pass


def test_the_error_about_an_unknown_setting_names_the_setting():
    with pytest.raises(AttributeError, match=r"thread'.*threads"):
        config.thread = 1  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="thread'"), config.set(thread=1):
        pass


def test_an_invalid_setting_is_rejected_before_its_block_runs():
    with pytest.raises(InvalidValue, match="device"):
        config.set(device="gpu")
    with pytest.raises(AttributeError, match="devise"):
        config.set(devise="cpu")


def test_a_forced_direction_applies_only_inside_its_block():
    assert forced_direction() == "auto"
    with direction("push"):
        assert forced_direction() == "push"
        assert in_a_thread(forced_direction) == "auto"
        with direction("auto"):
            assert forced_direction() == "auto"
    assert forced_direction() == "auto"
    with pytest.raises(InvalidValue, match="direction must be"), direction("up"):  # pyright: ignore[reportArgumentType]
        pass


def test_nested_recorders_record_only_their_own_thread():
    assert recorders() == ()
    with Recorder() as outer:
        record(event)
        with Recorder() as inner:
            record(event)
        in_a_thread(lambda: record(event))
    record(event)
    assert (len(outer.events), len(inner.events)) == (2, 1)
    assert recorders() == ()


def test_a_recorder_can_be_started_and_stopped_and_printed_as_a_table():
    recorder = Recorder(start=False)
    recorder.start()
    recorder.start()
    record(event)
    recorder.stop()
    recorder.stop()
    assert recorder.events == [event]
    head, row = str(recorder).splitlines()
    assert head.split() == ["operation", "semiring", "direction", "why", "in", "out", "ms"]
    assert row.split() == ["vxm", "any_secondi[BOOL]", "push", "forced", "3", "2", "500.000"]
    recorder.clear()
    assert not recorder.events


def test_a_recorder_is_active_from_its_creation_unless_start_is_false():
    recorder = Recorder(start=False)
    assert not recorder.is_recording
    recorder.start()
    assert recorder.is_recording and not in_a_thread(lambda: recorder.is_recording)
    recorder.stop()
    assert not recorder.is_recording
    other = Recorder()
    record(event)
    other.stop()
    assert other.data == [event] == list(other) and not recorder.data


def test_the_setting_max_rows_limits_the_number_of_rows_that_a_recorder_prints():
    for most in (0, 1, 2, 5):
        recorder = Recorder(start=False, max_rows=most)
        recorder.events.extend([event] * 5)
        lines = str(recorder).splitlines()
        assert len(lines) == 1 + most + (most < 5)
        if most < 5:
            assert f"... {5 - most} more; set max_rows to see them" in lines
        recorder.max_rows = None
        assert len(str(recorder).splitlines()) == 6
    with pytest.raises(InvalidValue, match="max_rows must be an int of at least 0, not -1"):
        Recorder(max_rows=-1)


def test_a_selection_with_a_vector_as_the_condition_appears_among_the_events_of_a_recorder():
    w = gl.Vector(int, 3)
    w << 1
    w[1] = 0
    with Recorder() as recorder:
        assert w.select(w.V).new().nvals == 2
    assert [(each.operation, each.nvals_out) for each in recorder.events] == [("select", 2)]

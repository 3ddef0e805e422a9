"""What a GPU program launches, read from XLA's text of it."""

import pytest

from diffmicro.gpu.program import LAUNCH, ROUND_TRIP, read

TEXT = """HloModule jit_f, is_scheduled=true

%newton (arg: (s32[], f32[8,2])) -> (s32[], f32[8,2]) {
  %arg = (s32[], f32[8,2]{1,0}) parameter(0)
  %get.0 = s32[] get-tuple-element(%arg), index=0
  %get.1 = f32[8,2]{1,0} get-tuple-element(%arg), index=1
  %closer = (s32[], f32[8,2]{1,0}) fusion(%get.0, %get.1), kind=kLoop, calls=%fused
  ROOT %out = (s32[], f32[8,2]{1,0}) tuple(%get.0, %get.1)
}

%short (arg.1: (s32[], f32[8,2])) -> pred[] {
  ROOT %less = pred[] fusion(%arg.1), kind=kLoop, calls=%fused.1
}

%rare (arg.2: f32[8,2]) -> f32[8,2] {
  %first = f32[8,2]{1,0} fusion(%arg.2), kind=kLoop, calls=%fused.2
  ROOT %second = f32[8,2]{1,0} custom-call(%first), custom_call_target="cusolver_getrf_ffi"
}

%never (arg.3: f32[8,2]) -> f32[8,2] {
  ROOT %same = f32[8,2]{1,0} parameter(0)
}

%advance (arg.4: (s32[], f32[8,2])) -> (s32[], f32[8,2]) {
  %given = (s32[], f32[8,2]{1,0}) parameter(0)
  %steps = (s32[], f32[8,2]{1,0}) while(%given), condition=%short, body=%newton, backend_config={"known_trip_count":{"n":"4"}}
  %branch = f32[8,2]{1,0} conditional(%p, %a, %b), true_computation=%rare, false_computation=%never, metadata={}
  %kept = f32[8,2]{1,0} copy(%branch)
  ROOT %both = (s32[], f32[8,2]{1,0}) tuple(%steps, %kept)
}

%goes_on (arg.5: (s32[], f32[8,2])) -> pred[] {
  ROOT %any = pred[] fusion(%arg.5), kind=kInput, calls=%fused.3
}

ENTRY %main (x: f32[8,2]) -> f32[8,2] {
  %x = f32[8,2]{1,0} parameter(0)
  %begin = (s32[], f32[8,2]{1,0}) fusion(%x), kind=kLoop, calls=%fused.4
  %time = (s32[], f32[8,2]{1,0}) while(%begin), condition=%goes_on, body=%advance
  ROOT %end = f32[8,2]{1,0} get-tuple-element(%time), index=1
}
"""  # fmt: skip  # noqa: E501


def test_launches_and_waits_of_a_time_step():
    program = read(TEXT)
    assert program.kernels == 1 and program.trips == 1
    (step,) = program.time_loops()
    # The condition and the copy, four closer, and the branch's longer side.
    assert step.launches() == 2 + 4 * 1 + 2
    # For the pass itself and for the branch; a loop of known length waits for nothing.
    assert step.waits() == 2
    assert [call for loop in program.all() for call in loop.calls] == ["cusolver_getrf_ffi"]
    # Copy, four times a counter and an array, two arrays.
    assert step.bytes_written() == 64 + 4 * (4 + 64) + 2 * 64
    assert step.least_time(1e12) == pytest.approx(8 * LAUNCH + 2 * ROUND_TRIP)
    assert step.least_time(1.0) == step.bytes_written()


def test_a_text_that_is_no_program():
    with pytest.raises(ValueError, match="no ENTRY: give"):
        read("HloModule empty\n")

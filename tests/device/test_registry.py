"""Names of devices, and what they fall back to."""

from __future__ import annotations

import pytest

from loom.device import registry
from loom.device.protocol import Device
from loom.diagnostics import ExitCode, LoomError


def test_the_simulator_fulfils_the_protocol() -> None:
    device = registry.open_device("amdgpu-sim", threads=1)
    assert isinstance(device, Device)
    assert device.identity()["kind"] == "simulator" and device.events is None
    device.close()


def test_amdgpu_falls_back_to_the_simulator_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "is_available", lambda name: name == "amdgpu-sim")
    said: list[str] = []
    device = registry.open_device("amdgpu", said.append)
    assert device.name == "amdgpu-sim"
    assert len(said) == 1 and "amdgpu-sim" in said[0] and "amdgpu-hip" in said[0]
    device.close()


def test_a_concrete_device_says_nothing() -> None:
    said: list[str] = []
    registry.open_device("amdgpu-sim", said.append).close()
    assert said == []


def test_unknown_and_absent_devices_exit_with_3(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LoomError) as unknown:
        registry.open_device("no-such-device")
    assert unknown.value.exit_code == ExitCode.UNAVAILABLE
    assert unknown.value.diagnostics[0].code == "DEVICE/001"
    monkeypatch.setattr(registry, "is_available", lambda name: False)
    with pytest.raises(LoomError) as absent:
        registry.open_device("amdgpu")
    assert absent.value.exit_code == ExitCode.UNAVAILABLE
    assert absent.value.diagnostics[0].code == "DEVICE/002"


def test_unknown_sanitizer() -> None:
    with pytest.raises(LoomError) as refused:
        registry.open_device("amdgpu-sim", sanitizers=("everything",))
    assert refused.value.diagnostics[0].code == "DEVICE/003"

"""The AMDGPU simulator: final machine code to host machine code, with the memory and the faults of the device."""

"""The AMDGPU target: machine code, lowering, ABI and backend."""

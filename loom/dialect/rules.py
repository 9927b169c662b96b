def __getattr__(name):
    if name == "ABI_KINDS":
        from loom.dialect.common import ABI_KINDS
        return ABI_KINDS
    if name in ("assume_results","like_group","as_many_results","conversion","element_of","mask_of","mask_result","element_is","vector_access","masked_access","gather","mask_shape","bit_stream","packed_dot"):
        if name in ("assume_results",): return None
        return lambda *a: None
    return None

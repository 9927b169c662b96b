def __getattr__(name):
    if name in ("lanewise","convert","index_binary","index_unary"): return lambda *a: None
    return None

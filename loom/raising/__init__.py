"""The evidence ladder: capture, lift, recover, compare, reduce, accept."""

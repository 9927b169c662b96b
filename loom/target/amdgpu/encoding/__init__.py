"""Encodings compiled for use: the two directions between an instruction's bits and its operands and modifiers.

    compiled       for every encoding of a row where each operand and modifier is; ``compiled(generation, wave_size)``
    codecs         what the codec texts of the tables mean, as a table from text to maker
    addresses      parts of a memory address: one register, a pair, or absent, as other fields say
    conditional    data operands that another field makes absent, longer or a different bank
    legality       modifiers that an encoding has bits for and that are illegal all the same
    slots          the two kinds of slot, listed and computed, and the place that a codec is made for
    value_lists    what every value of a field stands for
    refusals       why an operand does not fit, in words

Decoder and encoder are loops over these.
"""

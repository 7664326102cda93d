"""ONNX ops over their attributes, with sizes that are all different, and in the forms of old opsets.

ONNX's own operator tests often have two equal sizes, which hides that they are exchanged.
"""

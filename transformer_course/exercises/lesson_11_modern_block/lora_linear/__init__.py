"""The exercise ``lora_linear``: its cases, its reference, its mistakes."""

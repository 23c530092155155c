"""The practice bank: common interview exercises that no lesson requires."""

EXERCISES = (
    "soft_lookup",
    "adamw_step",
    "clip_by_global_norm",
    "inverted_dropout",
    "embedding_lookup",
    "gelu",
    "batch_norm",
    "cross_entropy_from_logits",
    "multi_token_loss",
    "sample_per_request",
    "quantize_per_channel",
    "paged_attention",
    "ring_attention",
    "reward_model_loss",
    "gae",
    "ppo_loss",
)

"""Published weights: models of the Hugging Face Hub made ours, and ours saved so that others can load them."""

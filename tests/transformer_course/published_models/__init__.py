"""Published models: download, conversion, and the cache."""

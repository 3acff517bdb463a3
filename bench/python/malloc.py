"""Ways of glibc's malloc, which a process reads from its environment when it starts: "default" gives large blocks back to the system when they are freed, "kept" keeps them."""
MALLOC = {"default": {}, "kept": {"MALLOC_MMAP_THRESHOLD_": str(1 << 33), "MALLOC_TRIM_THRESHOLD_": str(1 << 34), "MALLOC_TOP_PAD_": str(1 << 28)}}

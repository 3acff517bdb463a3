"""The table of bench_fused's peers: a row for each variant, beside strew's one pass. Variants of bench_fused itself: `one` pass, `two` kernels, and the
loops written by `hand`, which have one thread."""


def show(ns):
    return f"{ns:.0f} ns" if ns < 1e4 else f"{ns / 1e3:.1f} us" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def base_of(rows):
    """strew's one pass; where only its Python package has the case, that, without sorting anything beforehand."""
    for peer in ("strew", "strew_python"):
        plain = [row for row in rows.get(peer, []) if row["variant"] != "two" and not row["note"]]
        if plain:
            return min(plain, key=lambda row: row["ns_per_call"])
    return None


def print_case(name, T, rows, peers, missing):
    """`rows`: {peer: [record]}. `missing`: {peer: why it is not there}."""
    base = base_of(rows)
    print(f"\n{name}, T={T}" + (f": time, and as a multiple of {base['peer']} {base['variant']}'s" if base else ""))
    for peer in peers:
        if peer in missing:
            print(f"  {peer:15s}{missing[peer]}")
        elif not rows.get(peer):
            print(f"  {peer:15s}-")
        for row in sorted(rows.get(peer, []), key=lambda row: row["ns_per_call"]):
            wrong = f"  WRONG: {row['mismatch']} elements" if row["mismatch"] else ""
            once = "  (tried, and far behind this peer's best)" if row["samples"] == 0 else ""
            ratio = f"{row['ns_per_call'] / base['ns_per_call']:8.2f}" if base else ""
            print(f"  {peer:15s}{show(row['ns_per_call']):>11s}{ratio}  {row['variant']}{'; ' + row['note'] if row['note'] else ''}{once}{wrong}")


def print_ahead(tables, missing):
    """Which peers were faster than strew, and which are not there."""
    print()
    for T, cases in tables.items():
        ahead = []
        for name, rows in cases.items():
            base = base_of(rows)
            ours = {"strew", "strew_python", "hand"}
            right = [row for peer, all_of in rows.items() if peer not in ours for row in all_of if not row["mismatch"] and row["samples"]]
            best = min(right, key=lambda row: row["ns_per_call"], default=None)
            if base and best and best["ns_per_call"] < base["ns_per_call"]:
                note = f"; {best['note']}" if best["note"] else ""
                ahead.append(f"{name} ({best['peer']} {best['variant']} {best['ns_per_call'] / base['ns_per_call']:.2f}{note})")
        print(f"T={T}: ahead of strew: {', '.join(ahead) or 'none'}")
    for peer, why in missing.items():
        print(f"{peer}: {why}")

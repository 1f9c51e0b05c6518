"""Tables and lists of bytes for the worked example."""



Row = tuple[int, str]


def layout(data: bytes, rows: list[Row]) -> str:
    """A table of consecutive fields, which must add up to the data."""
    lines = ["| offset | length | bytes | meaning |", "|---:|---:|---|---|"]
    offset = 0
    for length, meaning in rows:
        lines.append(f"| {offset} | {length} | {wrap(data[offset : offset + length])} | {meaning} |")
        offset += length
    assert offset == len(data)
    return "\n".join(lines)


def wrap(data: bytes) -> str:
    """Hexadecimal, 16 bytes a line."""
    return "<br>".join(f"`{data[start : start + 16].hex()}`" for start in range(0, len(data), 16))


def listing(pairs: list[tuple[str, str]]) -> str:
    """Values with their names, one a line."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(["```", *(f"{name:{width}}  {value}" for name, value in pairs), "```"])

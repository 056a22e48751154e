"""Writes png_checksums.txt: size and sample sums of the pictures in $RALIMP_DATA/images, decoded by
the few lines below (zlib and the five row filters of the PNG specification), not by libpng."""
import os
import pathlib
import struct
import zlib

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def decode(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    position, compressed = 8, b""
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        body = data[position + 8:position + 8 + length]
        position += 12 + length
        if kind == b"IHDR":
            width, height, bits, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            compressed += body
    assert bits == 8 and interlace == 0, "not needed for these files"
    channels = CHANNELS[color]
    raw, row_bytes = zlib.decompress(compressed), width * channels
    rows, above = [], bytearray(row_bytes)
    for y in range(height):
        start = y * (row_bytes + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + row_bytes])
        for x in range(row_bytes):
            left = row[x - channels] if x >= channels else 0
            up = above[x]
            corner = above[x - channels] if x >= channels else 0
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + up) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + up) // 2) & 255
            elif kind == 4:
                estimate = left + up - corner
                nearest = min((abs(estimate - left), 0, left), (abs(estimate - up), 1, up),
                              (abs(estimate - corner), 2, corner))
                row[x] = (row[x] + nearest[2]) & 255
        rows.append(row)
        above = row
    return height, width, channels, b"".join(rows)


def main():
    folder = pathlib.Path(os.environ["RALIMP_DATA"]) / "images"
    lines = ["# name height width channels sum(samples) sum(sample * (index mod 65521))"]
    for path in sorted(folder.glob("*.png")):
        height, width, channels, samples = decode(path.read_bytes())
        weighted = sum(value * (i % 65521) for i, value in enumerate(samples))
        lines.append(f"{path.name} {height} {width} {channels} {sum(samples)} {weighted}")
    output = pathlib.Path(__file__).with_name("png_checksums.txt")
    output.write_text("\n".join(lines) + "\n")


main()

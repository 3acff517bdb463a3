#!/usr/bin/env python3
"""Shows the tuner's report in a headless browser, light and dark, wide and narrow.

    report_test.py UNIT_TESTS     exit 1 if a page is blank, scrolls sideways, writes to the console or asks for something from the net;
                                  77 (skipped) if there is no browser, which is a failure where CI is set
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")


def pixels(path):
    """Width, height and the bytes of a PNG's rows, unfiltered; 8 bits per channel, as browsers write them."""
    data = pathlib.Path(path).read_bytes()
    at, compressed, width, height, channels = 8, b"", 0, 0, 3
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
            channels = {2: 3, 6: 4}[colour]
        if kind == b"IDAT":
            compressed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, stride, previous, rows = zlib.decompress(compressed), width * channels, bytes(width * channels), []
    for y in range(height):
        filtered, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = line[x - channels] if x >= channels else 0
            up, corner = previous[x], previous[x - channels] if x >= channels else 0
            if filtered == 1:
                add = left
            elif filtered == 2:
                add = up
            elif filtered == 3:
                add = (left + up) // 2
            elif filtered == 4:
                guess = left + up - corner
                add = min((left, up, corner), key=lambda value: abs(guess - value))
            else:
                add = 0
            line[x] = (line[x] + add) & 255
        previous = bytes(line)
        rows.append(previous)
    return width, height, channels, rows


def check(browser, page, folder, width, dark):
    """Problems of one way of showing the page."""
    what = f"{'dark' if dark else 'light'}, {width} pixels wide"
    picture = f"{folder}/{width}{dark}.png"
    common = [browser, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
              f"--window-size={width},700", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    shown = subprocess.run([*common, f"--screenshot={picture}", page.as_uri()], capture_output=True, text=True, timeout=120)
    problems = [f"{what}: the console has: {line}" for line in shown.stderr.splitlines() if "CONSOLE" in line]
    if not os.path.exists(picture):
        return problems + [f"{what}: no picture; {shown.stderr[-500:]}"]
    _, _, channels, rows = pixels(picture)
    corner = sum(rows[2][2 * channels:2 * channels + 3]) / 3
    if (corner < 128) != dark:
        problems.append(f"{what}: the corner's brightness is {corner:.0f}")
    colours = {row[x:x + 3] for row in rows[::3] for x in range(0, len(row), 7 * channels)}
    if len(colours) < 20:
        problems.append(f"{what}: {len(colours)} colours: the page is nearly blank")
    return problems


def sideways(browser, page, folder, width):
    """Does the page scroll sideways? A copy of it says so in its title."""
    probe = pathlib.Path(folder) / f"probe{width}.html"
    script = "<script>document.title = document.documentElement.scrollWidth + ' of ' + window.innerWidth;</script></body>"
    probe.write_text(page.read_text().replace("</body>", script))
    dump = subprocess.run([browser, "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
                           f"--window-size={width},700", "--dump-dom", probe.as_uri()], capture_output=True, text=True, timeout=120).stdout
    found = re.search(r"<title>(\d+) of (\d+)</title>", dump)
    if not found:
        return [f"{width} pixels wide: the page could not be measured"]
    if int(found[1]) > int(found[2]):
        return [f"{width} pixels wide: the page is {found[1]} pixels wide in a window of {found[2]}"]
    return []


def main():
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        print("no browser, expected one of " + ", ".join(BROWSERS))
        return 1 if os.environ.get("CI") else 77
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "report.html"
        subprocess.run([sys.argv[1], "--gtest_filter=HtmlReport.WritesAPageForTheBrowser", "--gtest_brief=1"], check=True,
                       env={**os.environ, "STREW_REPORT_PAGE": str(page)})
        problems = re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", page.read_text())
        for width in (1100, 500):
            for dark in (False, True):
                problems += check(browser, page, folder, width, dark)
            problems += sideways(browser, page, folder, width)
    print("\n".join(problems) or "the report shows, light and dark, on wide and narrow screens")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

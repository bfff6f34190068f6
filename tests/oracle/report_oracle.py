"""Opens a page of `slipstream report` in headless Chromium, for report_oracle_test.cpp.

report_oracle.py PAGE [SCREENSHOTS]: at a phone's and a desk's width, in light and dark, there must be no message on
the console, no request but for the page, nothing that axe-core objects to, nothing wider than the window, no letter
of a drawing outside of it or too small to read, no colour too pale, and tables must sort by click and by keyboard.
Prints what it finds and how many findings that are. With SCREENSHOTS, a folder, it leaves four pictures there.
"""
import importlib.util
import json
import os
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDTHS = {360: 740, 1280: 900}
SMALLEST_LETTER = 9  # px
# What is drawn in a colour of the page's palette, on which, and the least contrast of WCAG 2.1, 1.4.3 and 1.4.11.
GRAPHICS = [(f"--s{n}", "--paper", 3) for n in range(1, 9)] + [("--muted", "--paper", 3), ("--other", "--paper", 3),
                                                              ("--axis", "--paper", 3)]
LETTERS = [(f"--on-h{n}", f"--h{n}", 4.5) for n in range(5)] + [
    (ink, paper, 4.5) for ink in ("--ink", "--soft", "--link") for paper in ("--paper", "--panel")]

LAYOUT = """
const found = [];
if (document.documentElement.scrollWidth > innerWidth) found.push('the page is wider than the window');
if (window.attacked) found.push('a script of a file ran');
let drawings = 0, letters = 0;
for (const svg of document.querySelectorAll('figure svg[role=img]')) {
  const box = svg.getBoundingClientRect();
  if (box.width === 0) continue;
  ++drawings;
  const label = svg.getAttribute('aria-label');
  if (!label || label.length < 20) found.push('a drawing has no text alternative: ' + label);
  for (const text of svg.querySelectorAll('text')) {
    const at = text.getBoundingClientRect();
    ++letters;
    if (at.left < box.left - 2 || at.right > box.right + 2 || at.top < box.top - 2 || at.bottom > box.bottom + 2)
      found.push('"' + text.textContent + '" reaches out of ' + label.slice(0, 40));
    if (parseFloat(getComputedStyle(text).fontSize) * box.width / svg.viewBox.baseVal.width < arguments[0])
      found.push('"' + text.textContent + '" is too small in ' + label.slice(0, 40));
  }
}
if (drawings < 12 || letters < 100) found.push('only ' + drawings + ' drawings with ' + letters + ' texts are seen');
return found;
"""


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def show(driver, page, width, theme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": WIDTHS[width], "deviceScaleFactor": 1, "mobile": width < 600})
    driver.get(page)


def luminance(colour):
    channels = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def palette_findings(driver, theme):
    colour = lambda name: driver.execute_script(
        "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()", name)
    findings = [f"{front} on {back} has a contrast of {value:.2f}" for front, back, least in GRAPHICS + LETTERS
                if (value := contrast(colour(front), colour(back))) < least]
    if (luminance(colour("--paper")) < 0.1) != (theme == "dark"):
        findings.append("the paper is not the theme's")
    return findings


def request_findings(driver, page):
    """Of all that the browser asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    findings = [f"the page asked for {url}" for url in urls if url.split("#")[0] != page]
    return findings if urls else findings + ["the browser's log has no request, not even for the page"]


def axe_findings(driver, axe):
    driver.execute_script("document.querySelectorAll('details').forEach((each) => each.open = true)")
    driver.execute_script(axe)
    result = driver.execute_async_script("axe.run(document).then(arguments[0])")
    if len(result["passes"]) < 20:
        return [f"axe looked at {len(result['passes'])} rules only"]
    return [f"axe: {rule['id']}: {rule['help']}: {node['html'][:200]}"
            for rule in result["violations"] for node in rule["nodes"]]


def sort_findings(driver):
    """Sorts each table by its last column of numbers: by a click, then, the other way round, by the keyboard."""
    tables = driver.find_elements(By.CSS_SELECTOR, ".caption + .scroll table:has(th.number button)")
    findings = [finding for table in tables for finding in sort_table(driver, table)]
    return findings if tables else ["there is no table to sort"]


def sort_table(driver, table):
    header = table.find_elements(By.CSS_SELECTOR, "th.number:has(button)")[-1]
    button = header.find_element(By.TAG_NAME, "button")
    values = lambda: driver.execute_script(
        "return Array.from(arguments[0].tBodies[0].rows, (row) => row.cells[arguments[1].cellIndex].dataset.value)",
        table, header)
    before = values()
    numbers = sorted(float(each) for each in before if each is not None)
    missing = [None] * before.count(None)
    findings = []

    def expect(direction, ordered):
        now = [each if each is None else float(each) for each in values()]
        if now != ordered + missing or header.get_attribute("aria-sort") != direction:
            findings.append(f"'{header.text}' sorted {direction} reads {now}, {header.get_attribute('aria-sort')}")

    driver.execute_script("arguments[0].click()", button)
    expect("ascending", numbers)
    driver.execute_script("arguments[0].focus()", button)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    expect("descending", numbers[::-1])
    return findings


def screenshot(driver, width, theme, folder):
    height = driver.execute_script("return document.documentElement.scrollHeight")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.save_screenshot(f"{folder}/report-{width}-{theme}.png")


def main():
    page = pathlib.Path(sys.argv[1]).resolve().as_uri()
    package = pathlib.Path(importlib.util.find_spec("axe_playwright_python").origin).parent
    axe = (package / "axe.min.js").read_text()
    driver = browser()
    views = 0
    findings = []
    try:
        for width in WIDTHS:
            for theme in ("light", "dark"):
                show(driver, page, width, theme)
                if len(sys.argv) > 2:
                    screenshot(driver, width, theme, sys.argv[2])
                    show(driver, page, width, theme)
                found = driver.execute_script(LAYOUT, SMALLEST_LETTER) + palette_findings(driver, theme)
                found += sort_findings(driver) + axe_findings(driver, axe) + request_findings(driver, page)
                found += [f"console: {entry['message']}" for entry in driver.get_log("browser")]
                findings += [f"{width} px, {theme}: {each}" for each in found]
                views += 1
    finally:
        driver.quit()
    print("\n".join(findings + [f"{views} views, {len(findings)} findings"]))
    return 1 if findings else 0


sys.exit(main())

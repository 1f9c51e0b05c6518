"""Lays out drawings of `pushcrypt preview` in a browser, light and dark, and checks positions and colours."""
import base64, json, pathlib, re, subprocess, sys

FOLDER, PROGRAM, PICTURES = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
SCRIPT = pathlib.Path(__file__).with_name("boxes.js").read_text()
SCHEMES = {"dark": "--blink-settings=preferredColorScheme=0", "light": "--blink-settings=preferredColorScheme=1"}
POLICY = '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"/>'
LONG = "We keep the corner table by the window for twenty minutes, and then give it to whoever stands at the door. " * 4
ARABIC = "نراكم في الساعة الثامنة مساءً عند الطاولة المجاورة للنافذة، وإذا تأخرتم فأخبرونا من فضلكم حتى نحجزها لكم. " * 3
FAMILY = "👨‍👩‍👧‍👦"
CATEGORIES = {"version": 1, "categories": [{"identifier": "TABLE", "actions": [
    {"identifier": "REPLY", "title": "Reply", "options": ["authenticationRequired"], "textInput": {"buttonTitle": "Send"}},
    {"identifier": "LATER", "title": "لاحقاً"},
    {"identifier": "CANCEL", "title": "Cancel the table " * 6, "options": ["destructive", "foreground"]}]}]}
REFERENCE = {"url": "https://files.example.com/1", "key": "A" * 43, "size": 4096, "sha256": "A" * 43, "type": "public.jpeg", "name": "p.jpg"}


def payload(title, subtitle, body, **fields):
    return {"aps": {"alert": {"title": title, "subtitle": subtitle, "body": body}, **fields}, "chat": "c41"}


PAYLOADS = {
    "usual": (payload("Table for two", "", "See you at 8 🚲", sound="default", badge=3), []),
    "long": (payload(LONG[:90], LONG[:90], LONG, category="TABLE", badge=12345, **{"interruption-level": "time-sensitive"}), ["categories"]),
    "right": (payload("طاولة لشخصين", "שולחן לשניים", ARABIC, category="TABLE"), ["categories"]),
    "attachment": (payload("Table for two", "Saturday", LONG), ["attachment"]),
    "wide": (payload(FAMILY * 9, "내일 저녁 여덟 시에 창가 자리에서 만나요 내일 저녁", "予約が変更されました。" * 20, sound="b.caf"), []),
    "hostile": (payload("</p></text><script>x</script>", "\u202eevil\u2067", "W" * 400 + "\n" * 30, **{"thread-id": "x" * 200}), []),
    "empty": ({"aps": {"alert": {"body": "x"}}}, []),
}


class Failure(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def draw(name, kind):
    """Draws a payload, and returns the file."""
    content, extras = PAYLOADS[name]
    (FOLDER / f"{name}.json").write_text(json.dumps(content))
    options = ["--categories", FOLDER / "categories.json"] if "categories" in extras else []
    options += ["--attachment", FOLDER / "reference"] if "attachment" in extras else []
    file = FOLDER / f"{name}.{kind}"
    subprocess.run([PROGRAM, "preview", FOLDER / f"{name}.json", *options, "-o", file], check=True)
    return file


def browse(page, scheme, *options):
    """The result of a page in a headless browser."""
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={FOLDER}/profile",
         "--window-size=1200,3200", SCHEMES[scheme], *options, page.as_uri()], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, "chromium:", done.stderr[-500:])
    return done.stdout


def result(page, scheme):
    found = re.search(r'<pre id="result">([^<]*)</pre>', browse(page, scheme, "--dump-dom"))
    expect(found, page.name, "has no result: the script did not run")
    return json.loads(base64.b64decode(found[1]))


def measure(file, scheme):
    """The positions in a copy of the drawing that contains the script."""
    text = file.read_text()
    if file.suffix == ".svg":
        text = f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">{text.partition("?>")[2]}</body>'
    else:
        expect(POLICY in text, "no policy")
        text = text.replace(POLICY, "")
    copy = FOLDER / f"{file.stem}-{file.suffix[1:]}-{scheme}.html"
    copy.write_text(text.replace("</body>", f"<script>{SCRIPT}</script></body>"))
    return result(copy, scheme)


def luminance(colour):
    """WCAG 2.1."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def check(name, kind, scheme, found):
    place = f"{name}.{kind}, {scheme}:"
    panels = found["panels"]
    expect(len(panels) == 3, place, len(panels), "panels")
    for left, right in zip(panels, panels[1:]):
        expect(left["right"] <= right["left"], place, "panels overlap")
        expect(abs(left["top"] - right["top"]) < 2, place, "panels do not stand side by side")
    for text in found["texts"]:
        what = f'{place} {text["panel"]} {text["view"]} {text["name"]} {text["text"][:30]!r}'
        ink, card = text["ink"], text["card"]
        expect(ink["left"] >= card["left"] - 1 and ink["right"] <= card["right"] + 1, what, "sticks out of its card:", ink, card)
        expect(text["view"] == "" or ink["top"] >= card["top"] - 1 and ink["bottom"] <= card["bottom"] + 1, what, "is above or below its card")
        expect(contrast(text["colour"], text["ground"]) >= 4.5, what, "is hard to read:", text["colour"], "on", text["ground"])
    check_lines(place, kind, found)
    if name == "right":
        check_direction(place, found)


def check_lines(place, kind, found):
    """A banner has one line of each title and at most four of the text."""
    for panel in ("relay", "phone", "fallback"):
        banner = [text for text in found["texts"] if (text["panel"], text["view"]) == (panel, "banner")]
        bodies = [text for text in banner if text["name"] == "body"]
        lines = len(bodies) if kind == "svg" else sum(text["lines"] for text in bodies)
        expect(lines <= 4, place, panel, lines, "lines of text in a banner")
        titles = [text for text in banner if text["name"] in ("title", "subtitle")]
        expect(len(titles) <= 2 and all(text["lines"] <= 1 for text in titles), place, panel, "a title has several lines")
        if kind == "html" and panel == "phone" and any(len(text["text"]) > 300 for text in bodies):
            expect(lines == 4 and bodies[0]["isCut"], place, "a long text is not cut after four lines, but", lines)


def check_direction(place, found):
    for text in found["texts"]:
        if text["view"] != "banner" or text["name"] not in ("title", "subtitle", "body"):
            continue
        middle = (text["card"]["left"] + text["card"]["right"]) / 2
        if text["panel"] == "phone":
            expect(text["direction"] == "rtl", place, "direction of", text["text"])
            expect(text["card"]["right"] - text["ink"]["right"] < 13 + 36 + 2, place, text["text"], "is not at the right")
            expect(text["name"] == "body" or text["ink"]["left"] > middle, place, text["text"], "begins at the left")
        else:
            expect(text["direction"] == "ltr" and text["ink"]["right"] < middle + 20, place, text["text"], "is not at the left")


def check_policy(file):
    """A script in the drawing itself does not run, because its policy forbids it."""
    copy = FOLDER / "policy.html"
    copy.write_text(file.read_text().replace("</body>", '<p id="p">no</p><script>document.getElementById("p").textContent = "yes"</script></body>'))
    page = browse(copy, "light", "--dump-dom")
    expect('<p id="p">no</p>' in page, "a script has run in spite of the policy")
    copy.write_text(copy.read_text().replace(POLICY, ""))
    expect('<p id="p">yes</p>' in browse(copy, "light", "--dump-dom"), "the script would not have run anyway")


def check_picture(file):
    """An SVG in a page, as a README has it, follows the reader's appearance."""
    data = base64.b64encode(file.read_bytes()).decode()
    page = FOLDER / "in-a-page.html"
    page.write_text(f"""<!DOCTYPE html><body><img id="i" src="data:image/svg+xml;base64,{data}"><script>
        const image = document.getElementById("i");
        image.decode().then(() => {{
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.drawImage(image, 0, 0);
            const output = document.createElement("pre");
            output.id = "result";
            output.textContent = btoa(JSON.stringify([...canvas.getImageData(4, 4, 1, 1).data]));
            document.body.append(output);
        }});</script></body>""")
    light, dark = (sum(result(page, scheme)[:3]) for scheme in ("light", "dark"))
    expect(light > 600 and dark < 150, "a picture in a page is", light, "bright in light,", dark, "in dark")


def main():
    (FOLDER / "categories.json").write_text(json.dumps(CATEGORIES))
    (FOLDER / "reference").write_text(json.dumps(REFERENCE))
    (FOLDER / "reference").chmod(0o600)
    pages = texts = 0
    for name in PAYLOADS:
        for kind in ("svg", "html"):
            file = draw(name, kind)
            found = {scheme: measure(file, scheme) for scheme in SCHEMES}
            for scheme in SCHEMES:
                check(name, kind, scheme, found[scheme])
                browse(file, scheme, f"--screenshot={PICTURES}/{name}-{kind}-{scheme}.png")
                pages, texts = pages + 1, texts + len(found[scheme]["texts"])
            expect(luminance(found["light"]["page"]) > 0.8 and luminance(found["dark"]["page"]) < 0.1, name, kind, "light and dark look alike")
            if (name, kind) == ("usual", "html"):
                check_policy(file)
            if (name, kind) == ("usual", "svg"):
                check_picture(file)
    print(f"browser: {pages} drawings laid out, {texts} texts in their places; pictures of them are in {PICTURES}")


try:
    main()
except Failure as failure:
    sys.exit(f"preview-browser: error: {failure}")

// Writes into the page where its panels, cards and texts lie once the browser has laid them out, and in which colours.
// Put into a copy of a drawing by preview.py; the drawing itself has no script.
const rectangle = ({left, top, right, bottom}) => ({left, top, right, bottom});
const isBox = (element) => ["card", "actions", "wall", "badge", "thumb"].some((name) => element.classList.contains(name));

// What stands behind a point, below texts: the first colour that is not transparent.
function ground(x, y) {
  for (const element of document.elementsFromPoint(x, y)) {
    if (element.tagName === "text") continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.backgroundColor;
    if (element.tagName !== "g" && element.tagName !== "svg" && /^rgb\(/.test(colour)) return colour;
  }
  return getComputedStyle(document.documentElement).backgroundColor;
}

// The card that a text is drawn on: around it in HTML, before it in SVG.
function cardOf(text) {
  if (!(text instanceof SVGElement)) return text.closest(".card, .actions, .panel");
  const card = text.closest(".banner, .expanded");
  if (!card) return text.closest("svg");
  const {top} = text.getBoundingClientRect();
  return [...card.querySelectorAll("rect.card")].filter((rect) => rect.getBoundingClientRect().top <= top + 2).pop();
}

function describe(text) {
  const range = document.createRange();
  range.selectNodeContents(text);
  const own = text.getBoundingClientRect();
  const visible = [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.top < own.bottom - 2);
  const style = getComputedStyle(text);
  // A line that ends in an ellipsis is as long as its element; what is left out has a rectangle all the same.
  const ink = visible.length && !(text instanceof SVGElement) && style.textOverflow !== "ellipsis"
    ? {left: Math.min(...visible.map((r) => r.left)), right: Math.max(...visible.map((r) => r.right)), top: own.top, bottom: own.bottom}
    : rectangle(own);
  return {
    panel: text.closest(".panel").classList[1], view: text.closest(".banner, .expanded")?.classList[0] ?? "",
    name: text.classList[0] ?? text.tagName.toLowerCase(), text: text.textContent, ink, card: rectangle(cardOf(text).getBoundingClientRect()),
    lines: new Set(visible.map((rect) => Math.round(rect.top / 4))).size, isCut: text.scrollHeight > text.clientHeight + 2,
    direction: style.direction, colour: text instanceof SVGElement ? style.fill : style.color,
    ground: ground((ink.left + ink.right) / 2, (ink.top + ink.bottom) / 2),
  };
}

const isText = (element) => element.children.length === 0 && element.textContent.trim() !== "" && element.closest(".panel");
const page = document.querySelector(".page");
const result = {
  page: page ? getComputedStyle(page).fill : getComputedStyle(document.documentElement).backgroundColor,
  panels: [...document.querySelectorAll(".panel")].map((panel) => rectangle(panel.getBoundingClientRect())),
  cards: [...document.querySelectorAll(".banner, .expanded")].map((card) => rectangle(card.getBoundingClientRect())),
  texts: [...document.querySelectorAll(".panel *")].filter(isText).map(describe),
};
const output = document.createElement("pre");
output.id = "result";
output.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(result))));
document.body.append(output);

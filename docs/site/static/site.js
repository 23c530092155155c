// Slides: the arrow keys and two buttons turn them, F shows them on the whole screen; which one it is stands below.
function prepareSlides() {
  const first = document.querySelector(".bd-article section");
  if (!document.querySelector(".deck") || !first) return;
  const slides = [first, ...first.querySelectorAll(":scope > section")];
  const now = () => slides.map((slide) => slide.getBoundingClientRect().top).findLastIndex((top) => top < innerHeight / 2);
  const turn = (by) => slides[Math.min(Math.max(now() + by, 0), slides.length - 1)].scrollIntoView();
  const button = (text, label, by) => {
    const made = Object.assign(document.createElement("button"), { textContent: text, ariaLabel: label });
    made.addEventListener("click", () => turn(by));
    return made;
  };
  const number = document.createElement("span");
  const bar = Object.assign(document.createElement("nav"), { className: "deck-bar", ariaLabel: "Slides" });
  bar.append(button("←", "previous slide", -1), number, button("→", "next slide", 1), "arrow keys turn, F fills the screen");
  document.body.append(bar);
  const show = () => (number.textContent = `${Math.max(now(), 0) + 1} / ${slides.length}`);
  document.addEventListener("scroll", show, { passive: true });
  show();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "f") document.documentElement.requestFullscreen();
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 }[event.key];
    if (!by) return;
    turn(by);
    event.preventDefault();
  });
}

// The search: a page is told by its description, a section by its own text, and nothing by the furniture around them.
function tellWhatIsFound() {
  if (typeof Search === "undefined") return;
  const ofTheme = Search.makeSearchSummary;
  Search.makeSearchSummary = (html, keywords, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const description = page.querySelector('meta[name="description"]')?.content;
    if (!anchor && description) return Object.assign(document.createElement("p"), { className: "context", textContent: description });
    page.querySelectorAll("details, nav, .cell, .math").forEach((node) => node.remove());
    const text = page.querySelector(".bd-article");
    text?.setAttribute("role", "main");
    return ofTheme(`<body>${text?.outerHTML ?? html}</body>`, keywords, anchor);
  };
}

// A lesson that is called what was asked for comes first, before modules of that name and pages that mention it.
function putLessonsFirst() {
  if (typeof Scorer === "undefined") return;
  const asked = new URLSearchParams(location.search).get("q")?.trim().toLowerCase() ?? "";
  const isCalledSo = ([page, title, anchor]) =>
    !anchor && page.startsWith("notebooks/") && title.toLowerCase().includes(asked);
  Scorer.score = (found) => found[4] + (isCalledSo(found) ? 100 : 0);
}

document.addEventListener("DOMContentLoaded", () => {
  prepareSlides();
  putLessonsFirst();
  tellWhatIsFound();
});

const SWIPE_PIXELS = 50;

// Slides: arrow keys, two buttons and a swipe turn them, F shows them on the whole screen; their number is below.
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
  bar.append(button("←", "previous slide", -1), number, button("→", "next slide", 1), matchMedia("(pointer: coarse)").matches ? "swipe to turn" : "arrow keys turn, F fills the screen");
  document.body.append(bar);
  const show = () => (number.textContent = `${Math.max(now(), 0) + 1} / ${slides.length}`);
  document.addEventListener("scroll", show, { passive: true });
  show();
  let touched = null;
  document.addEventListener("touchstart", (event) => {
    const scrolls = [...event.composedPath()].some((node) => node !== document.documentElement && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX === "auto");
    touched = event.touches.length === 1 && !scrolls ? event.touches[0] : null; // what scrolls sideways keeps its swipes
  }, { passive: true });
  document.addEventListener("touchend", (event) => {
    if (!touched) return;
    const [x, y] = [event.changedTouches[0].clientX - touched.clientX, event.changedTouches[0].clientY - touched.clientY];
    touched = null;
    if (Math.abs(x) > SWIPE_PIXELS && Math.abs(x) > 2 * Math.abs(y)) turn(x < 0 ? 1 : -1);
  });
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

// The list of all exercises: a field leaves the rows that have all the words typed, and hides empty lessons.
function searchExercises() {
  const place = document.querySelector(".exercise-search");
  if (!place) return;
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "RoPE, LoRA, mask …" });
  const count = Object.assign(document.createElement("span"), { role: "status" });
  const label = Object.assign(document.createElement("label"), { textContent: "Find an exercise: " });
  label.append(field);
  place.append(label, " ", count);
  const rows = [...document.querySelectorAll(".bd-article tbody tr")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => (row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))));
    document.querySelectorAll(".bd-article section section").forEach((lesson) => {
      lesson.hidden = !lesson.querySelector("tbody tr:not([hidden])");
    });
    const left = rows.filter((row) => !row.hidden).length;
    count.textContent = field.value.trim() ? `${left} of ${rows.length}` : "";
  });
}

document.addEventListener("DOMContentLoaded", () => {
  prepareSlides();
  searchExercises();
  putLessonsFirst();
  tellWhatIsFound();
});

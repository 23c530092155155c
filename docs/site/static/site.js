const SWIPE_PIXELS = 50;

// Slides: change slides with the arrow keys, two buttons or a swipe, show them full screen with F, and display the slide number.
function prepareSlides() {
  const first = document.querySelector(".bd-article section");
  if (!document.querySelector(".deck") || !first) return;
  const slides = [first, ...first.querySelectorAll(":scope > section")];
  const current = () => slides.map((slide) => slide.getBoundingClientRect().top).findLastIndex((top) => top < innerHeight / 2);
  const move = (by) => slides[Math.min(Math.max(current() + by, 0), slides.length - 1)].scrollIntoView();
  const button = (text, label, by) => {
    const node = Object.assign(document.createElement("button"), { textContent: text, ariaLabel: label });
    node.addEventListener("click", () => move(by));
    return node;
  };
  const number = document.createElement("span");
  const bar = Object.assign(document.createElement("nav"), { className: "deck-bar", ariaLabel: "Slides" });
  bar.append(button("←", "previous slide", -1), number, button("→", "next slide", 1), matchMedia("(pointer: coarse)").matches ? "swipe to change slides" : "← → to change slides, F for full screen");
  document.body.append(bar);
  const show = () => (number.textContent = `${Math.max(current(), 0) + 1} / ${slides.length}`);
  document.addEventListener("scroll", show, { passive: true });
  show();
  let touched = null;
  document.addEventListener("touchstart", (event) => {
    const scrolls = [...event.composedPath()].some((node) => node !== document.documentElement && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).overflowX === "auto");
    touched = event.touches.length === 1 && !scrolls ? event.touches[0] : null; // elements that scroll sideways handle their own swipes
  }, { passive: true });
  document.addEventListener("touchend", (event) => {
    if (!touched) return;
    const [x, y] = [event.changedTouches[0].clientX - touched.clientX, event.changedTouches[0].clientY - touched.clientY];
    touched = null;
    if (Math.abs(x) > SWIPE_PIXELS && Math.abs(x) > 2 * Math.abs(y)) move(x < 0 ? 1 : -1);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "f") document.documentElement.requestFullscreen();
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 }[event.key];
    if (!by) return;
    move(by);
    event.preventDefault();
  });
}

// Search results: show a page's description or a section's own text, without the navigation around them.
function describeSearchResults() {
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

// Search order: lessons whose title matches the query come before modules with this name and pages that mention it.
function putLessonsFirst() {
  if (typeof Scorer === "undefined") return;
  const query = new URLSearchParams(location.search).get("q")?.trim().toLowerCase() ?? "";
  const isMatchingLesson = ([page, title, anchor]) =>
    !anchor && page.startsWith("notebooks/") && title.toLowerCase().includes(query);
  Scorer.score = (result) => result[4] + (isMatchingLesson(result) ? 100 : 0);
}

// The list of all exercises: a search field hides rows that do not contain all typed words, and lessons without rows.
function searchExercises() {
  const container = document.querySelector(".exercise-search");
  if (!container) return;
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "RoPE, LoRA, mask …" });
  const count = Object.assign(document.createElement("span"), { role: "status" });
  const label = Object.assign(document.createElement("label"), { textContent: "Find an exercise: " });
  label.append(field);
  container.append(label, " ", count);
  const rows = [...document.querySelectorAll(".bd-article tbody tr")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => (row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))));
    document.querySelectorAll(".bd-article section section").forEach((lesson) => {
      lesson.hidden = !lesson.querySelector("tbody tr:not([hidden])");
    });
    const visible = rows.filter((row) => !row.hidden).length;
    count.textContent = field.value.trim() ? `${visible} of ${rows.length}` : "";
  });
}

document.addEventListener("DOMContentLoaded", () => {
  prepareSlides();
  searchExercises();
  putLessonsFirst();
  describeSearchResults();
});

// Slides: the arrow keys turn them, F shows them on the whole screen.
document.addEventListener("keydown", (event) => {
  const first = document.querySelector(".bd-article section");
  if (!document.querySelector(".deck") || !first || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "f") document.documentElement.requestFullscreen();
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const slides = [first, ...first.querySelectorAll(":scope > section")];
  const tops = slides.map((slide) => slide.getBoundingClientRect().top);
  const now = tops.findLastIndex((top) => top < innerHeight / 2);
  slides[Math.min(Math.max(now + step, 0), slides.length - 1)].scrollIntoView();
  event.preventDefault();
});

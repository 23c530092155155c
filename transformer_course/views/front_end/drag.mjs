// Dragging in a picture with a mouse, pen or finger.

/** Call `move(x, y)` whenever a pointer is dragged in an SVG picture, in the units of the picture. */
export function drag(picture, move) {
  const at = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    move(place.x, place.y);
  };
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    event.preventDefault();
    at(event);
  });
  picture.addEventListener("pointermove", (event) => {
    if (picture.hasPointerCapture(event.pointerId)) at(event);
  });
}

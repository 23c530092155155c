// Dragging in a picture, by mouse, pen or finger.

/** Call `move` with the place in an SVG picture to which a pointer is dragged, in the picture's own units. */
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

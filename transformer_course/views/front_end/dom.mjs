// Short functions that create HTML and SVG elements.

const SVG = "http://www.w3.org/2000/svg";

/** Create an HTML element with attributes and with elements or text as children. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Create an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Create SVG text. `anchor` is the part of the text that is at x. */
export function label(text, x, y, anchor = "start", kind = null) {
  return svg("text", { x, y, "text-anchor": anchor, class: kind }, text);
}

/** Set attributes of an element. False, null and undefined remove an attribute; true sets it without a value. */
export function attributes(node, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}

function fill(node, values, children) {
  attributes(node, values);
  node.append(...children);
  return node;
}

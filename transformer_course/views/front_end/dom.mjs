// Elements of a page, in one call each.

const SVG = "http://www.w3.org/2000/svg";

/** Make an HTML element: its attributes by name, then what it holds, elements or text. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Make a piece of SVG text; `anchor` says which part of it is at x. */
export function label(text, x, y, anchor = "start", kind = null) {
  return svg("text", { x, y, "text-anchor": anchor, class: kind }, text);
}

/** Set attributes of an element; false, null and undefined take one away, true gives it no value. */
export function attributes(node, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else node.setAttribute(name, value === true ? "" : value);
  }
}

function filled(node, values, children) {
  attributes(node, values);
  node.append(...children);
  return node;
}

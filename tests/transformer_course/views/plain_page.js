// A host of widgets. Its model implements only anywidget's contract, with one event for each call of `on`.

/** Show a widget on an empty page. `shown` has its element, its model, its clean-up function, and the changes sent to Python. */
async function show({ name, esm, css, state }) {
  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const traits = new Map(Object.entries(state).map(([trait, value]) => [trait, value?.base64 === undefined ? value : bytes(value.base64)]));
  const listeners = new Map();
  const sent = [];
  let changed = {};
  const model = {
    get: (trait) => traits.get(trait),
    set(trait, value) {
      traits.set(trait, value);
      changed[trait] = value;
      listeners.get(`change:${trait}`)?.forEach((react) => react());
    },
    save_changes() {
      sent.push(changed);
      changed = {};
    },
    on: (event, react) => listeners.set(event, (listeners.get(event) ?? new Set()).add(react)),
    off: (event, react) => listeners.get(event).delete(react),
  };
  document.head.replaceChildren(sheet(css));
  document.querySelector("main").replaceChildren();
  const el = document.querySelector("main").appendChild(document.createElement("div"));
  const address = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  const cleanUp = widget.render({ model, el });
  window.shown = { name, el, model, sent, cleanUp, listening: () => [...listeners.values()].reduce((n, set) => n + set.size, 0) };
  await frames();
}

function sheet(css) {
  const style = document.createElement("style");
  style.textContent = css;
  return style;
}

/** Wait until everything scheduled for the next frame is drawn. */
async function frames() {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}

/** Return the computed style of every element of the view, as text. */
function looks() {
  return Array.from(shown.el.querySelectorAll("*"), (node) => {
    const style = getComputedStyle(node);
    return Array.from(style, (property) => `${property}: ${style.getPropertyValue(property)}`).join("\n");
  });
}

/** Return the elements whose style changes when the style sheets of other views are added before and after. */
function restyledBy(sheets) {
  const alone = looks();
  document.head.prepend(...sheets.map(sheet));
  document.head.append(...sheets.map(sheet));
  const nodes = [...shown.el.querySelectorAll("*")];
  return looks().flatMap((look, i) => (look === alone[i] ? [] : [nodes[i].outerHTML.slice(0, 80)]));
}

// Views that live without a kernel: their front end needs a model with five methods, and gets one that is only here.
{
  const folder = new URL("views/", document.currentScript.src);
  const loading = {};

  /** Load the script and the style sheet of a view, once for a page. */
  const load = (name) =>
    (loading[name] ??= new Promise((loaded, failed) => {
      const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(`${name}.css`, folder) });
      const script = Object.assign(document.createElement("script"), { src: new URL(`${name}.js`, folder) });
      script.onload = () => loaded(courseViews[name]);
      script.onerror = failed;
      document.head.append(sheet, script);
    }));

  const bytes = (text) => new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

  function modelOf(stored) {
    const traits = new Map(Object.entries(stored).map(([name, value]) => [name, value?.base64 === undefined ? value : bytes(value.base64)]));
    const listeners = new Map();
    return {
      get: (name) => traits.get(name),
      set(name, value) {
        traits.set(name, value);
        listeners.get(`change:${name}`)?.forEach((react) => react());
      },
      save_changes() {},
      on: (event, react) => listeners.set(event, (listeners.get(event) ?? new Set()).add(react)),
      off: (event, react) => listeners.get(event)?.delete(react),
    };
  }

  /** Put a view in the place of the picture before its state. */
  async function show(state) {
    const { view, traits } = JSON.parse(state.textContent);
    const front = await load(view);
    const place = [...state.closest(".cell_output").querySelectorAll("img, script.live-view")];
    const picture = place[place.indexOf(state) - 1];
    const el = document.createElement("div");
    (picture ?? state).replaceWith(el);
    front.render({ model: modelOf(traits), el });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("script.live-view").forEach(show));
}

// Views that live without a kernel: the model of each is only here.
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

  /** Put a view in the place of the picture before its state. */
  async function show(state) {
    const { view, traits } = JSON.parse(state.textContent);
    const front = await load(view);
    const place = [...state.closest(".cell_output").querySelectorAll("img, script.live-view")];
    const picture = place[place.indexOf(state) - 1];
    const el = document.createElement("div");
    (picture ?? state).replaceWith(el);
    front.render({ model: front.modelOf(traits), el });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("script.live-view").forEach(show));
}

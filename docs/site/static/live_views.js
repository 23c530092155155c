// Interactive views without a kernel: the state of each view is stored in the page.
{
  const folder = new URL("views/", document.currentScript.src);
  const loading = {};

  /** Load the script and the style sheet of a view once per page. */
  const load = (name) =>
    (loading[name] ??= new Promise((loaded, failed) => {
      const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(`${name}.css`, folder) });
      const script = Object.assign(document.createElement("script"), { src: new URL(`${name}.js`, folder) });
      script.onload = () => loaded(courseViews[name]);
      script.onerror = failed;
      document.head.append(sheet, script);
    }));

  /** Replace the picture before a view's state with the view. */
  async function show(state) {
    const { view, traits } = JSON.parse(state.textContent);
    const front = await load(view);
    const nodes = [...state.closest(".cell_output").querySelectorAll("img, script.live-view")];
    const picture = nodes[nodes.indexOf(state) - 1];
    const el = document.createElement("div");
    (picture ?? state).replaceWith(el);
    front.render({ model: front.modelOf(traits), el });
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("script.live-view").forEach(show));
}

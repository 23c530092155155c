// What JupyterLab loads: a container of modules, as its bundler would have made it. `init` gets the modules that all
// extensions share, and `get` hands our plugin out.
(() => {
  const folder = new URL('.', document.currentScript.src);
  import(new URL('page.js', folder)); // at once: early.js would ask for it behind all that JupyterLab asks for
  const home = import(new URL('early.js', folder)).then(({ drawHome }) => drawHome(folder));
  const PACKAGES = ['@lumino/widgets', '@jupyterlab/apputils', '@jupyterlab/coreutils', '@jupyterlab/launcher'];
  let shared;

  /** Load a package of JupyterLab's own, in the only version that it has. */
  async function load(name) {
    const [version] = Object.values(shared[name]);
    const factory = await version.get();
    return factory();
  }

  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB['transformer-course-home'] = {
    init(scope) {
      shared = scope;
    },
    async get() {
      const { makePlugin } = await import(new URL('plugin.js', folder));
      const packages = await Promise.all(PACKAGES.map(load));
      const plugin = makePlugin(Object.assign({}, ...packages), await home);
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();

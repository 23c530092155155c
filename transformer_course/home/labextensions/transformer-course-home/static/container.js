// The script that JupyterLab loads, in the format of a bundled extension (module federation). `init` receives the modules
// that all extensions share, and `get` returns the plugin.
(() => {
  const folder = new URL('.', document.currentScript.src);
  const PACKAGES = [
    '@lumino/widgets',
    '@jupyterlab/apputils',
    '@jupyterlab/coreutils',
    '@jupyterlab/launcher',
    '@jupyterlab/notebook',
    '@jupyterlab/services',
    '@jupyterlab/ui-components',
  ];
  let shared;

  /** Load one of JupyterLab's packages, of which there is only one version. */
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
      const files = ['plugin.js', 'early.js'].map(file => import(new URL(file, folder)));
      const [{ makePlugin }, { home }] = await Promise.all(files);
      const packages = await Promise.all(PACKAGES.map(load));
      const plugin = makePlugin(Object.assign({}, ...packages), home);
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();

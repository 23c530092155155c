// The home page before JupyterLab is there, which takes seconds: the head of its page asks for this first (`server.py`).
// It is drawn over the window as soon as the server answers, until the page's panel takes it over.
import { HomePage } from './page.js';

const { baseUrl, treePath } = JSON.parse(document.getElementById('jupyter-config-data').textContent);

/** The home page, on its way into the window unless a file was asked for. */
export const home = new HomePage(`${baseUrl}transformer-course/home`, Boolean(treePath));

if (!home.isFileAsked) {
  // JupyterLab will say the same, or what the learner has chosen.
  document.body.dataset.jpThemeLight ??= String(!matchMedia('(prefers-color-scheme: dark)').matches);
  home.node.classList.add('tl-early');
  document.body.append(home.node);
  home.start();
}

// Shows the home page while JupyterLab loads, which takes seconds. `server.py` inserts this script into the head of
// JupyterLab's page. The home page covers the window until its panel exists.
import { HomePage } from './page.js';

const { baseUrl, treePath } = JSON.parse(document.getElementById('jupyter-config-data').textContent);

/** The home page, which is shown at once unless JupyterLab was opened with a file. */
export const home = new HomePage(`${baseUrl}transformer-course/home`, Boolean(treePath));

if (!home.isFileRequested) {
  // JupyterLab will set the same theme, or the theme that the learner has chosen.
  document.body.dataset.jpThemeLight ??= String(!matchMedia('(prefers-color-scheme: dark)').matches);
  home.node.classList.add('tl-early');
  document.body.append(home.node);
  home.start();
}

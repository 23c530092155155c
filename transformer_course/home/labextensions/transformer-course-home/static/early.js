// The home page before JupyterLab is there, which takes seconds: drawn over the window as soon as the server answers,
// until the page's panel takes it over.
import { HomePage } from './page.js';

/**
 * Return the home page, on its way into the window unless a file was asked for.
 *
 * @param folder Where our files are.
 */
export function drawHome(folder) {
  const { baseUrl, treePath } = JSON.parse(document.getElementById('jupyter-config-data').textContent);
  const page = new HomePage(`${baseUrl}transformer-course/home`, Boolean(treePath));
  const [sheet, ofNotebooks] = ['page.css', 'notebooks.css'].map(name =>
    Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL(name, folder) }),
  );
  document.head.append(sheet, ofNotebooks);
  if (page.isFileAsked) return page;
  // JupyterLab will say the same, or what the learner has chosen.
  document.body.dataset.jpThemeLight ??= String(!matchMedia('(prefers-color-scheme: dark)').matches);
  page.node.classList.add('tl-early');
  sheet.addEventListener('load', () => page.node.isConnected || document.body.append(page.node));
  page.start();
  return page;
}

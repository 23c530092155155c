// The plugin: it opens the home page when JupyterLab starts, and has a command and a card in the launcher that do. It
// also brings back the views of notebooks that are opened.
import { HomePage } from './page.js';
import { bringBackViews } from './views.js';

const COMMAND = 'transformer-course:home';
const ID = 'transformer-course-home';

/**
 * @param lab JupyterLab's own classes and tokens.
 * @param folder Where our files are.
 */
export function makePlugin(lab, folder) {
  const { Widget, ICommandPalette, ILauncher, PageConfig } = lab;

  return {
    id: 'transformer-course-home:plugin',
    description: 'What has passed, what is left, and where to go on.',
    autoStart: true,
    optional: [ICommandPalette, ILauncher],
    activate(app, palette, launcher) {
      const sheet = document.createElement('link');
      sheet.rel = 'stylesheet';
      sheet.href = new URL('page.css', folder);
      document.head.append(sheet);

      let panel = null;
      const add = () => {
        if (panel && !panel.isDisposed) return;
        panel = makePanel();
        app.shell.add(panel, 'main', { mode: 'tab-before', activate: false });
      };
      const open = () => {
        add();
        app.shell.activateById(ID);
      };

      /** Make a panel that asks for the page as long as it can be seen. */
      function makePanel() {
        const made = new Widget();
        made.id = ID;
        made.title.label = 'Home';
        made.title.caption = 'Transformer Course: what has passed, and where to go on';
        made.title.closable = true;
        made.node.tabIndex = -1;
        const page = new HomePage(made.node, `${PageConfig.getBaseUrl()}transformer-course/home`, openFile);
        made.onAfterShow = () => page.start();
        made.onAfterAttach = () => made.isVisible && page.start();
        made.onBeforeHide = () => page.stop();
        made.onBeforeDetach = () => page.stop();
        // JupyterLab asks later than it shows: what has the focus by then keeps it.
        made.onActivateRequest = () => made.node.contains(document.activeElement) || made.node.focus();
        return made;
      }

      /** Open a file beside the home page, at a cell if one is named. */
      async function openFile(path, cell) {
        const opened = await app.commands.execute('docmanager:open', { path });
        if (cell && opened?.content) {
          await opened.context.ready;
          await opened.setFragment(`#cell-id=${cell}`);
        }
      }

      app.docRegistry.addWidgetExtension('Notebook', { createNew: panel => void bringBackViews(panel) });
      app.commands.addCommand(COMMAND, { label: 'Transformer Course Home', execute: open });
      palette?.addItem({ command: COMMAND, category: 'Transformer Course' });
      launcher?.add({ command: COMMAND, category: 'Transformer Course' });
      const isFileAsked = PageConfig.getOption('treePath') !== '';
      app.restored.then(isFileAsked ? add : open);
    },
  };
}

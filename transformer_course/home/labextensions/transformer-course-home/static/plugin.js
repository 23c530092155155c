// The plugin. It opens the home page when JupyterLab starts, and adds a command and a card in the launcher that open it.
// It also restores the views of notebooks that are opened, handles their buttons, shows which cells a new kernel has not
// run, and resets exercises and lessons.
import { makeAsk } from './ask.js';
import { handleHintButtons } from './hints.js';
import { makeKernelBars } from './kernel_bar.js';
import { OwnModel } from './own_model.js';
import { RESET_EXERCISE, RESET_LESSON, addResets } from './reset.js';
import { changeThemeAtOnce } from './theme.js';
import { restoreViews } from './views.js';

const COMMAND = 'transformer-course:home';
const ID = 'transformer-course-home';
const CONTENTS = 'toc:show-panel';
const CONTENTS_ID = 'table-of-contents';
/** Minimum window width, in pixels, to show a table of contents next to a lesson. */
const WIDE = 1200;
/** Below this window width, in pixels, only the lesson is shown. */
const NARROW = 700;

/**
 * @param lab JupyterLab's classes and tokens.
 * @param page The home page, which may already be displayed.
 */
export function makePlugin(lab, page) {
  const { Widget, ICommandPalette, ILauncher, IThemeManager, PageConfig } = lab;

  return {
    id: 'transformer-course-home:plugin',
    description: 'Your progress, open exercises, and where to continue.',
    autoStart: true,
    optional: [ICommandPalette, ILauncher, IThemeManager],
    activate(app, palette, launcher, themes) {
      let panel = null;
      const add = () => {
        if (panel && !panel.isDisposed) return;
        const focused = document.activeElement;
        const { scrollTop } = page.node;
        panel = makePanel();
        app.shell.add(panel, 'main', { mode: 'tab-before', activate: false });
        // Moving the page into the panel has lost both.
        if (panel.node.contains(focused)) focused.focus();
        requestAnimationFrame(() => (page.node.scrollTop = scrollTop));
      };
      const open = () => {
        add();
        return activate(panel);
      };

      /** Create a panel that requests the page as long as it is visible. */
      function makePanel() {
        page.node.className = 'tl-home'; // remove the classes of the early page and of a closed panel
        const panel = new Widget({ node: page.node });
        panel.id = ID;
        panel.title.label = 'Home';
        panel.title.caption = 'Transformer Course: your progress and where to continue';
        panel.title.closable = true;
        panel.node.tabIndex = -1;
        panel.onAfterShow = () => page.start();
        panel.onAfterAttach = () => panel.isVisible && page.start();
        panel.onBeforeHide = () => page.stop();
        panel.onBeforeDetach = () => page.stop();
        // JupyterLab activates the panel after showing it, so keep the focus if an element of the page already has it.
        panel.onActivateRequest = () => panel.node.contains(document.activeElement) || panel.node.focus();
        return panel;
      }

      /** Collapse the file browser, because the home page links to all files. */
      function hideFiles() {
        const files = [...app.shell.widgets('left')].find(widget => widget.id === 'filebrowser');
        if (files?.isVisible) app.shell.collapseLeft?.();
      }

      /** Show the table of contents next to a lesson if there is room, but only once, so that it stays closed if the learner closes it. */
      let isContentsShown = false;
      async function showContents() {
        if (isContentsShown || !app.shell.leftCollapsed || window.innerWidth < WIDE) return;
        if (!app.commands.hasCommand(CONTENTS)) return;
        isContentsShown = true;
        await app.commands.execute(CONTENTS);
      }

      /** Hide the table of contents while the home page is in front, where it would be empty, and show it again afterwards. */
      let areContentsHidden = false;
      app.shell.currentChanged?.connect((_, { newValue }) => {
        const contents = [...app.shell.widgets('left')].find(widget => widget.id === CONTENTS_ID);
        if (newValue?.id === ID && contents?.isVisible) {
          areContentsHidden = true;
          app.shell.collapseLeft();
        } else if (newValue && newValue.id !== ID && areContentsHidden) {
          areContentsHidden = false;
          if (window.innerWidth < WIDE) return;
          app.shell.expandLeft(); // this moves the focus
          void activate(newValue);
        }
      });

      window.addEventListener('resize', () => window.innerWidth < NARROW && app.shell.collapseLeft?.());

      /** Focus a widget, after waiting until JupyterLab is visible, because it hides itself while it changes its theme. */
      async function activate(widget) {
        while (!app.shell.isVisible) await new Promise(requestAnimationFrame);
        app.shell.activateById(widget.id);
      }

      /** Open a file in a new tab and, if a cell is given, scroll to the cell. */
      async function openFile(path, cell) {
        const opened = await app.commands.execute('docmanager:open', { path });
        if (!opened) return;
        const isNotebook = path.endsWith('.ipynb');
        if (isNotebook) {
          await opened.context.ready;
          await showContents(); // this moves the focus
        }
        await activate(opened);
        const place = isNotebook && cell ? opened.content.widgets.findIndex(widget => widget.model.id === cell) : -1;
        if (place < 0) return;
        opened.content.activeCellIndex = place;
        await opened.content.scrollToItem(place, 'start');
      }

      const ask = makeAsk(lab);
      const watchKernel = makeKernelBars(lab, ask);
      app.docRegistry.addWidgetExtension('Notebook', {
        createNew(panel) {
          void restoreViews(panel);
          void watchKernel(panel);
        },
      });
      addResets(app, lab, ask);
      if (themes) changeThemeAtOnce(app.commands, themes);
      app.commands.addCommand(COMMAND, { label: 'Transformer Course Home', execute: open });
      for (const command of [COMMAND, RESET_EXERCISE, RESET_LESSON]) {
        palette?.addItem({ command, category: 'Transformer Course' });
      }
      launcher?.add({ command: COMMAND, category: 'Transformer Course' });
      handleHintButtons(app.shell);
      const ownModel = new OwnModel(app.shell, Widget, `${PageConfig.getBaseUrl()}transformer-course/model`);
      app.restored.then(() => {
        (page.isFileRequested ? add : open)();
        hideFiles();
        page.join(openFile, ownModel, ask);
      });
    },
  };
}

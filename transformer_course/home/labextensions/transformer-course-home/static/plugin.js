// The plugin: it opens the home page when JupyterLab starts, and has a command and a card in the launcher that do. It
// also brings back the views of notebooks that are opened, answers the buttons in them, tells which cells a new kernel
// has not run, and starts exercises and lessons over.
import { makeAsk } from './ask.js';
import { answerButtons } from './hints.js';
import { makeKernelBars } from './kernel_bar.js';
import { OwnModel } from './own_model.js';
import { RESET_EXERCISE, RESET_LESSON, addResets } from './reset.js';
import { changeThemeAtOnce } from './theme.js';
import { bringBackViews } from './views.js';

const COMMAND = 'transformer-course:home';
const ID = 'transformer-course-home';
const CONTENTS = 'toc:show-panel';
const CONTENTS_ID = 'table-of-contents';
/** Points from which on there is room for a lesson's contents beside it. */
const WIDE = 1200;
/** Points below which there is room for the lesson alone. */
const NARROW = 700;

/**
 * @param lab JupyterLab's own classes and tokens.
 * @param page The home page, which may be there already.
 */
export function makePlugin(lab, page) {
  const { Widget, ICommandPalette, ILauncher, IThemeManager, PageConfig } = lab;

  return {
    id: 'transformer-course-home:plugin',
    description: 'What has passed, what is left, and where to go on.',
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
        // Both were lost on the way into the panel.
        if (panel.node.contains(focused)) focused.focus();
        requestAnimationFrame(() => (page.node.scrollTop = scrollTop));
      };
      const open = () => {
        add();
        return activate(panel);
      };

      /** Make a panel that asks for the page as long as it can be seen. */
      function makePanel() {
        page.node.className = 'tl-home'; // no longer early, nor hidden as in a panel that was closed
        const made = new Widget({ node: page.node });
        made.id = ID;
        made.title.label = 'Home';
        made.title.caption = 'Transformer Course: what has passed, and where to go on';
        made.title.closable = true;
        made.node.tabIndex = -1;
        made.onAfterShow = () => page.start();
        made.onAfterAttach = () => made.isVisible && page.start();
        made.onBeforeHide = () => page.stop();
        made.onBeforeDetach = () => page.stop();
        // JupyterLab asks later than it shows: what has the focus by then keeps it.
        made.onActivateRequest = () => made.node.contains(document.activeElement) || made.node.focus();
        return made;
      }

      /** Put away the list of files, which the home page has better. */
      function hideFiles() {
        const files = [...app.shell.widgets('left')].find(widget => widget.id === 'filebrowser');
        if (files?.isVisible) app.shell.collapseLeft?.();
      }

      /** Show a lesson's contents beside it where there is room and nothing else, once: who closes them has done so. */
      let isContentsShown = false;
      async function showContents() {
        if (isContentsShown || !app.shell.leftCollapsed || window.innerWidth < WIDE) return;
        if (!app.commands.hasCommand(CONTENTS)) return;
        isContentsShown = true;
        await app.commands.execute(CONTENTS);
      }

      /** Hide the contents while the home page is in front, where they are empty, and show them again afterwards. */
      let areContentsHidden = false;
      app.shell.currentChanged?.connect((_, { newValue }) => {
        const contents = [...app.shell.widgets('left')].find(widget => widget.id === CONTENTS_ID);
        if (newValue?.id === ID && contents?.isVisible) {
          areContentsHidden = true;
          app.shell.collapseLeft();
        } else if (newValue && newValue.id !== ID && areContentsHidden) {
          areContentsHidden = false;
          if (window.innerWidth < WIDE) return;
          app.shell.expandLeft(); // which takes the focus
          void activate(newValue);
        }
      });

      window.addEventListener('resize', () => window.innerWidth < NARROW && app.shell.collapseLeft?.());

      /** Give a widget the focus, which it could not take while JupyterLab hides itself to change its theme. */
      async function activate(widget) {
        while (!app.shell.isVisible) await new Promise(requestAnimationFrame);
        app.shell.activateById(widget.id);
      }

      /** Open a file beside the home page, at a cell if one is named. */
      async function openFile(path, cell) {
        const opened = await app.commands.execute('docmanager:open', { path });
        if (!opened) return;
        const isNotebook = path.endsWith('.ipynb');
        if (isNotebook) {
          await opened.context.ready;
          await showContents(); // which takes the focus
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
          void bringBackViews(panel);
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
      answerButtons(app.shell);
      const ownModel = new OwnModel(app.shell, Widget, `${PageConfig.getBaseUrl()}transformer-course/model`);
      app.restored.then(() => {
        (page.isFileAsked ? add : open)();
        hideFiles();
        page.join(openFile, ownModel, ask);
      });
    },
  };
}

// The map of the learner's own model on the home page: the view of the open lesson itself, which its kernel answers, or
// else the map as it was saved.
const WIDGET = 'application/vnd.jupyter.widget-view+json';

export class OwnModel {
  /**
   * @param shell JupyterLab's.
   * @param Widget Lumino's class.
   * @param address Where the server has what was saved.
   */
  constructor(shell, Widget, address) {
    Object.assign(this, { shell, Widget, address });
    this.node = document.createElement('div');
    this.shown = '';
    this.live = null;
  }

  /** Show the map in its place, which is null if there is none; nothing is drawn anew that is there already. */
  async place(host) {
    if (!host) return;
    if (this.node.parentNode !== host) host.replaceChildren(this.node);
    const found = this.find(host.dataset);
    const wanted = found ? found.id : host.dataset.version;
    if (wanted === this.shown) return;
    this.shown = wanted;
    this.live?.dispose();
    this.live = null;
    this.node.replaceChildren();
    try {
      await (found ? this.showLive(found) : this.showSaved());
    } catch (error) {
      this.node.textContent = `The map cannot be shown: ${error.message}`;
    }
  }

  /** Return the view in the open lesson, if its kernel runs. */
  find({ path, cell }) {
    const panel = [...this.shell.widgets('main')].find(widget => widget.context?.path === path);
    const kernel = panel?.sessionContext?.session?.kernel;
    const model = panel?.content?.widgets?.find(widget => widget.model.id === cell)?.model;
    if (!kernel || ['dead', 'unknown', 'terminating'].includes(kernel.status) || !model?.outputs) return null;
    for (let i = 0; i < model.outputs.length; i++) {
      const view = model.outputs.get(i).data[WIDGET];
      if (view) return { id: `${kernel.id} ${view.model_id}`, output: model.outputs.get(i), panel };
    }
    return null;
  }

  async showLive({ output, panel }) {
    const { Widget } = this;
    const shown = panel.content.rendermime.createRenderer(WIDGET);
    this.live = shown;
    Widget.attach(shown, this.node);
    await shown.renderModel(output);
  }

  async showSaved() {
    const answer = await fetch(this.address, { credentials: 'same-origin' });
    if (!answer.ok) throw new Error(`the server answers ${answer.status} ${answer.statusText}`);
    const { script, style, traits } = await answer.json();
    const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const { default: view } = await import(address);
    URL.revokeObjectURL(address);
    const el = document.createElement('div');
    const sheet = Object.assign(document.createElement('style'), { textContent: style });
    this.node.replaceChildren(sheet, el);
    view.render({ model: view.modelOf(traits), el });
  }
}

// The map of the learner's own model on the home page: the live view of the open lesson if its kernel is running,
// otherwise the map as it was saved.
const WIDGET = 'application/vnd.jupyter.widget-view+json';

export class OwnModel {
  /**
   * @param shell JupyterLab's shell.
   * @param Widget Lumino's class.
   * @param address The URL of the saved map.
   */
  constructor(shell, Widget, address) {
    Object.assign(this, { shell, Widget, address });
    this.node = document.createElement('div');
    this.shown = '';
    this.live = null;
  }

  /** Show the map in an element, which may be null. The map is not drawn again if it is already shown. */
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
      this.node.textContent = `The map could not be shown: ${error.message}`;
    }
  }

  /** Return the view in the open lesson, or null if its kernel is not running. */
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
    if (!answer.ok) throw new Error(`the server responded with ${answer.status} ${answer.statusText}`);
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

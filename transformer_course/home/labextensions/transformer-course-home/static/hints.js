// The button in the panel of a check: its hint appears below the panel, as an output of the same cell, and goes with it
// when the check is run again. Below the hint is the button for the next one.

/** Answer the buttons of all notebooks; `shell` is JupyterLab's. */
export function answerButtons(shell) {
  document.addEventListener('click', event => {
    const button = event.target.closest?.('button.tl-hint');
    const panel = button && [...shell.widgets('main')].find(widget => widget.node.contains(button));
    const cell = panel?.content?.widgets?.find(widget => widget.node.contains(button));
    if (cell) showHint(button, panel.sessionContext.session?.kernel, cell.model);
  });
}

async function showHint(button, kernel, cell) {
  const tell = text => cell.outputs.add({ output_type: 'stream', name: 'stdout', text });
  if (!kernel) return tell('No kernel is running. Run the check again; then ask for a hint.\n');
  button.disabled = true;
  const ask = `__import__("transformer_course.lesson.notebook", fromlist=["*"]).show_hint("${button.dataset.exercise}")`;
  const request = kernel.requestExecute({ code: ask, store_history: false });
  request.onIOPub = ({ header, content }) => {
    const { data, metadata } = content;
    if (header.msg_type === 'display_data') cell.outputs.add({ output_type: 'display_data', data, metadata });
    if (header.msg_type === 'stream') tell(content.text);
    if (header.msg_type === 'error') tell(`${content.ename}: ${content.evalue}\n`);
  };
  try {
    await request.done;
  } catch {
    // the kernel has ended meanwhile
  } finally {
    button.disabled = false;
  }
}

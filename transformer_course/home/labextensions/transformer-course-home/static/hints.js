// The hint button in the panel of a check. The hint appears below the panel as an output of the same cell, so it
// disappears when the check is run again. Below the hint is a button for the next hint.

/** Handle the hint buttons of all notebooks. `shell` is JupyterLab's shell. */
export function handleHintButtons(shell) {
  document.addEventListener('click', event => {
    const button = event.target.closest?.('button.tl-hint');
    const panel = button && [...shell.widgets('main')].find(widget => widget.node.contains(button));
    const cell = panel?.content?.widgets?.find(widget => widget.node.contains(button));
    if (cell) showHint(button, panel.sessionContext.session?.kernel, cell.model);
  });
}

async function showHint(button, kernel, cell) {
  const print = text => cell.outputs.add({ output_type: 'stream', name: 'stdout', text });
  if (!kernel) return print('No kernel is running. Run the check again before you request a hint.\n');
  button.disabled = true;
  const code = `__import__("transformer_course.lesson.notebook", fromlist=["*"]).show_hint("${button.dataset.exercise}")`;
  const request = kernel.requestExecute({ code, store_history: false });
  request.onIOPub = ({ header, content }) => {
    const { data, metadata } = content;
    if (header.msg_type === 'display_data') cell.outputs.add({ output_type: 'display_data', data, metadata });
    if (header.msg_type === 'stream') print(content.text);
    if (header.msg_type === 'error') print(`${content.ename}: ${content.evalue}\n`);
  };
  try {
    await request.done;
  } catch {
    // the kernel has ended
  } finally {
    button.disabled = false;
  }
}

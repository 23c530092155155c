// While JupyterLab follows the system's theme, the first use of its command to choose a theme only stops following, and
// the second use changes the theme. This module makes the first use change the theme.

/** Change the theme at the first use of the command. `themes` is JupyterLab's theme manager. */
export function changeThemeAtOnce(commands, themes) {
  commands.commandExecuted.connect(async (_, { id, args, result }) => {
    if (id !== 'apputils:change-theme') return;
    await result;
    if (args.theme && themes.theme !== args.theme && !themes.isToggledAdaptiveTheme()) await themes.setTheme(args.theme);
  });
}

// While JupyterLab follows the system's theme, its command that chooses a theme only ends the following: the theme
// changes at the second press. Here it changes at the first.

/** Let the first press change the theme; `themes` is JupyterLab's manager of themes. */
export function changeThemeAtOnce(commands, themes) {
  commands.commandExecuted.connect(async (_, { id, args, result }) => {
    if (id !== 'apputils:change-theme') return;
    await result;
    if (args.theme && themes.theme !== args.theme && !themes.isToggledAdaptiveTheme()) await themes.setTheme(args.theme);
  });
}

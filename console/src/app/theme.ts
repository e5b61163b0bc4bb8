const name = 'parlance.theme';

function show(theme: string | null): void {
  if (theme) document.documentElement.dataset['theme'] = theme;
}

/** Takes the theme that was chosen; without one the system's counts. */
export const restoreTheme = () => show(localStorage.getItem(name));

/** Changes between light and dark. */
export function toggleTheme(): void {
  const chosen = document.documentElement.dataset['theme'];
  const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  localStorage.setItem(name, isDark ? 'light' : 'dark');
  restoreTheme();
}

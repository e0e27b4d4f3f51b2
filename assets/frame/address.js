// The address bar follows the view. props.value = a query string, or "lost" where the server no longer has the view.
let opened = null, shown = null;
const apply = () => {
  const value = props.value || '';
  // While a page opens, its first events meet a view that is not there yet; only later is one lost.
  if (value === 'lost' && opened !== null && performance.now() - opened > 3000) window.location.reload();
  if (value.startsWith('?')) opened ??= performance.now();
  if (value.startsWith('?') && value !== window.location.search) {
    const parameters = new URLSearchParams(value);
    const theme = new URLSearchParams(window.location.search).get('__theme');
    if (theme) parameters.set('__theme', theme);
    const search = '?' + parameters.toString().replaceAll('+', '%20');
    // Another tab is a place to come back from; another query or region is not.
    const place = (text) => new URLSearchParams(text).get('tab') || 'listen';
    const moved = shown !== null && place(search) !== place(window.location.search);
    history[moved ? 'pushState' : 'replaceState'](history.state, '', search);
  }
  if (opened !== null) shown = window.location.search;
};
window.addEventListener('popstate', () => { if (window.location.search !== shown) window.location.reload(); });
watch('value', apply);
apply();

// Paths as a tree, and paths that match what was typed.

export interface TreeNode {
  name: string;
  path: string;
  children: TreeNode[] | null; // null for a file
}

/** The tree of some paths; those of folders end in a slash. Folders come first. */
export function treeOf(paths: readonly string[]): TreeNode[] {
  const root: TreeNode[] = [];
  const folders = new Map<string, TreeNode[]>([["", root]]);
  const folder = (path: string): TreeNode[] => {
    const known = folders.get(path);
    if (known) return known;
    const at = path.lastIndexOf("/");
    const children: TreeNode[] = [];
    folders.set(path, children);
    folder(path.slice(0, Math.max(at, 0))).push({ name: path.slice(at + 1), path, children });
    return children;
  };
  for (const path of paths) {
    if (path.endsWith("/")) folder(path.slice(0, -1));
    else {
      const at = path.lastIndexOf("/");
      folder(path.slice(0, Math.max(at, 0))).push({ name: path.slice(at + 1), path, children: null });
    }
  }
  for (const nodes of folders.values())
    nodes.sort((a, b) => Number(a.children === null) - Number(b.children === null) || (a.name < b.name ? -1 : 1));
  return root;
}

/** The paths that match, the best first: its name begins so, its name has it, the path has it, the letters in order. */
export function matching(paths: readonly string[], typed: string, most: number): string[] {
  const wanted = typed.toLowerCase();
  if (!wanted) return paths.filter((each) => !each.slice(0, -1).includes("/")).slice(0, most);
  const ranked: [number, string][] = [];
  for (const path of paths) {
    const rank = rankOf(path.toLowerCase(), wanted);
    if (rank !== null) ranked.push([rank, path]);
  }
  return ranked
    .sort((a, b) => a[0] - b[0] || a[1].length - b[1].length || (a[1] < b[1] ? -1 : 1))
    .slice(0, most)
    .map(([, path]) => path);
}

function rankOf(path: string, wanted: string): number | null {
  const name = path.replace(/\/$/, "").slice(path.replace(/\/$/, "").lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.includes(wanted)) return 2;
  let at = 0;
  for (const letter of path) if (letter === wanted[at]) at++;
  return at === wanted.length ? 3 : null;
}

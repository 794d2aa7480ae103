import type { Attachment } from "../contract/client_events";
import { t } from "../language/t";
import { dispatch } from "../store";

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_MESSAGE = 8 * 1024 * 1024 - 64 * 1024; // the server takes 8 MiB, with everything around it

/** The images among pasted, dropped or chosen files; what cannot be sent is told. */
export async function readImages(files: Iterable<File>): Promise<Attachment[]> {
  const read: Attachment[] = [];
  for (const file of files) {
    if (!TYPES.includes(file.type)) dispatch({ kind: "told", text: t("{name} is not an image that can be sent (PNG, JPEG, GIF, WebP)", { name: file.name }) });
    else if (file.size > MOST_BYTES) dispatch({ kind: "told", text: t("{name} is larger than 4 MB", { name: file.name }) });
    else read.push({ mimeType: file.type, data: await base64(file) });
  }
  return read;
}

/** Whether the server would not take the message. */
export function isTooLarge(text: string, images: Attachment[]): boolean {
  return new Blob([text]).size + images.reduce((sum, each) => sum + each.data.length, 0) > MOST_MESSAGE;
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}
